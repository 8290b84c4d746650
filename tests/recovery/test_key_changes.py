"""A job whose program now groups by keys of another type than its state was saved by."""

from __future__ import annotations

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common import Types
from firesteel.common.errors import StateMismatchError
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream.functions import KeyedCoProcessFunction, KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from tests.recovery.jobs import Watch, environment, lines, start

pytestmark = pytest.mark.usefixtures("machine")
SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
VALUES = list(range(30))


class Count(KeyedProcessFunction):
    """Says which of its key's records each one is."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        seen = (self.seen.value() or 0) + 1
        self.seen.update(seen)
        yield f"{ctx.get_current_key()} {seen}"


class CountBoth(KeyedCoProcessFunction):
    """The same for two streams."""

    open = Count.open

    def process_element1(self, value, ctx):
        yield from Count.process_element(self, value, ctx)

    process_element2 = process_element1


def number(value):
    return value % 3


def text(value):
    return str(value % 3)


def run(directory, select, key_type, stop_after=None, both=False, state="state", **settings):
    """Run the count; `stop_after` so many epochs."""
    watch = Watch(lambda handle, stats: handle.stop() if stats.epoch == stop_after else None)
    with environment(directory, epoch_records=6, listener=watch, **settings) as env:
        numbers = env.from_collection(VALUES, Types.INT()).uid("numbers")
        keyed = numbers.key_by(select, key_type)
        if both:
            others = env.from_collection(VALUES, Types.INT()).uid("others")
            counted = keyed.connect(others.key_by(select, key_type)).process(CountBoth(), Types.STRING())
        else:
            counted = keyed.process(Count(), Types.STRING()).name("count")
        sink = FileSink(directory / "out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())
        counted.uid("counter").sink_to(sink).uid("out")
        return start(env, watch).wait(120)


WHOLE = sorted(f"{value % 3} {value // 3 + 1}" for value in VALUES)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    ("before", "after", "texts"),
    [
        ((number, Types.LONG()), (text, Types.STRING()), ("LONG", "STRING")),
        ((number, Types.LONG()), (number, Types.INT()), ("LONG", "INT")),
        ((number, Types.INT()), (number, Types.DOUBLE()), ("INT", "DOUBLE")),
        ((number, Types.FLOAT()), (number, Types.DOUBLE()), ("FLOAT", "DOUBLE")),
        ((number, Types.LONG()), (text, None), ("LONG", "no declared type")),
        ((number, None), (text, Types.STRING()), ("no declared type (int)", "STRING")),
    ],
)
def test_keys_that_would_not_find_the_state_are_refused_with_both_types(tmp_path, before, after, texts, both):
    run(tmp_path, *before, stop_after=2, both=both)
    with pytest.raises(StateMismatchError) as refused:
        run(tmp_path, *after, both=both)
    message = str(refused.value)
    assert f"by, {texts[0]}; got keys of {texts[1]}" in message
    assert "test_key_changes.py" in message
    assert "uid()" in message


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=SPARK)])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Types.INT(), Types.LONG()),
        (None, Types.LONG()),
        (None, None),
        (Types.LONG(), Types.BIG_INT()),
    ],
)
@pytest.mark.parametrize("widths", [(1, 1), (2, 3)])
def test_keys_of_the_same_bytes_find_it(tmp_path, before, after, widths, on):
    run(tmp_path, number, before, stop_after=2, parallelism=widths[0], on=on)
    run(tmp_path, number, after, parallelism=widths[1], on=on)
    assert lines(tmp_path / "out") == WHOLE


def test_a_state_directory_and_another_job_that_begins_with_it_are_checked_alike(tmp_path):
    run(tmp_path / "one", number, Types.LONG(), stop_after=2)
    with pytest.raises(StateMismatchError, match="by, LONG; got keys of STRING"):
        run(tmp_path / "two", text, Types.STRING(), restore_from=str(tmp_path / "one" / "state"))
    with pytest.raises(StateMismatchError, match="by, LONG; got keys of STRING"):
        run(tmp_path / "one", text, Types.STRING(), restore_from="1")


def test_inputs_may_declare_their_keys_differently(tmp_path):
    def build(env):
        numbers = env.from_collection(VALUES, Types.INT()).uid("numbers")
        others = env.from_collection(VALUES, Types.INT()).uid("others")
        first, second = numbers.key_by(number, Types.LONG()), others.key_by(text, Types.STRING())
        first.connect(second).process(CountBoth(), Types.STRING()).uid("counter").print()

    for stop_after in (2, 4):
        watch = Watch(lambda handle, stats, last=stop_after: handle.stop() if stats.epoch == last else None)
        with environment(tmp_path, epoch_records=6, listener=watch) as env:
            build(env)
            assert start(env, watch).wait(60).epochs == stop_after


def test_a_widened_key_type_is_what_counts_from_then_on(tmp_path):
    run(tmp_path, number, Types.INT(), stop_after=1)
    run(tmp_path, number, Types.LONG(), stop_after=2)
    with pytest.raises(StateMismatchError, match="by, LONG; got keys of INT"):
        run(tmp_path, number, Types.INT())


def test_undeclared_keys_that_change_their_kind_are_logged_once(tmp_path, caplog):
    run(tmp_path, number, None, stop_after=2)
    run(tmp_path, text, None)
    (warning,) = [record.message for record in caplog.records if "no key of this epoch" in record.message]
    assert "keys now: str, keys saved: int" in warning
    assert "test_key_changes.py" in warning


def test_undeclared_keys_of_several_kinds_are_nothing_to_be_said(tmp_path, caplog):
    def mixed(value):
        return value if value < 12 else str(value)

    run(tmp_path, mixed, None)
    assert not [record for record in caplog.records if "no key of this epoch" in record.message]


def test_what_a_job_recorded_of_its_keys(tmp_path):
    run(tmp_path, number, Types.LONG(), stop_after=2)
    manifest = ManifestReader(Storage.of(tmp_path / "state")).read(2)
    recorded = {
        snapshot.name: (snapshot.key_types, snapshot.key_kinds) for snapshot in manifest.operators.values()
    }
    assert recorded["count"] == ([{"type": "LONG"}], ["int"])
    assert all(found == ([], []) for name, found in recorded.items() if name != "count")
