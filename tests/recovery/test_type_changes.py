"""A job whose program now declares other types than its state was saved with."""

from __future__ import annotations

import re

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common import Row, Types
from firesteel.common.errors import EngineError, StateMismatchError
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from firesteel.testing import LocalExecutor
from tests.recovery.jobs import Watch, environment, lines, start

pytestmark = pytest.mark.usefixtures("machine")
SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

INT_ROW = Types.ROW_NAMED(["n", "gone"], [Types.INT(), Types.STRING()])
LONG_ROW = Types.ROW_NAMED(["added", "n"], [Types.STRING(), Types.LONG()])


class First(KeyedProcessFunction):
    """Keeps a row, a list and a map of small numbers."""

    def open(self, runtime_context):
        self.row = runtime_context.get_state(ValueStateDescriptor("row", INT_ROW))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))
        self.by_tens = runtime_context.get_map_state(
            MapStateDescriptor("by-tens", Types.INT(), Types.FLOAT())
        )

    def process_element(self, value, ctx):
        n = (self.row.value() or Row(n=0, gone="")).n
        self.row.update(Row(n=n + 1, gone="x"))
        self.seen.add(value)
        self.by_tens.put(value // 10, float(value))


class Second(KeyedProcessFunction):
    """Goes on with the same states in wider types."""

    def open(self, runtime_context):
        self.row = runtime_context.get_state(ValueStateDescriptor("row", LONG_ROW))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.by_tens = runtime_context.get_map_state(
            MapStateDescriptor("by-tens", Types.INT(), Types.DOUBLE())
        )

    def process_element(self, value, ctx):
        row = self.row.value()
        assert row.added is None or row.added == "y"
        self.row.update(Row(added="y", n=row.n + 1))
        self.seen.add(value + 2**40)
        tens = sorted(self.by_tens.items())
        yield f"{ctx.get_current_key()} {row.n} {sorted(self.seen.get())} {tens}"


class Refused(First):
    """Wants a number where a row is kept."""

    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("row", Types.LONG()))


VALUES = list(range(30))


def run(directory, function, stop_after=None, **settings):
    watch = Watch(lambda handle, stats: handle.stop() if stats.epoch == stop_after else None)
    with environment(directory, epoch_records=6, listener=watch, **settings) as env:
        numbers = env.from_collection(VALUES, Types.INT()).uid("numbers")
        out = numbers.key_by(lambda value: value % 3).process(function, Types.STRING()).uid("keeper")
        sink = FileSink(directory / "out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())
        out.sink_to(sink).uid("out")
        return start(env, watch).wait(120)


def expected(since):
    """What the second function says, if it began with the value at this place."""
    for value in VALUES[since:]:
        before = [other for other in VALUES[:value] if other % 3 == value % 3]
        seen = sorted(other if other < since else other + 2**40 for other in [*before, value])
        tens = {other // 10: float(other) for other in before if other < since}
        yield f"{value % 3} {len(before)} {seen} {sorted(tens.items())}"


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=SPARK)])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 3)])
def test_saved_values_are_converted_before_the_job_goes_on(tmp_path, on, before, after):
    run(tmp_path, First(), stop_after=2, parallelism=before, on=on)
    result = run(tmp_path, Second(), parallelism=after, on=on)
    assert lines(tmp_path / "out") == sorted(expected(12))
    assert result.epochs == 2 + 3 + 3  # each of three states was converted by a manifest of its own
    manifest = ManifestReader(Storage.of(tmp_path / "state")).read(3)
    assert manifest.restored_from == "epoch 2"
    assert [layer.whole for layers in manifest.layers.values() for layer in layers] == [True]


def test_the_new_types_are_what_later_drivers_and_machines_find(tmp_path, machine):
    run(tmp_path, First(), stop_after=2)
    run(tmp_path, Second(), stop_after=6)
    machine("another")
    run(tmp_path, Second())
    assert lines(tmp_path / "out") == sorted(expected(12))


def test_what_cannot_be_converted_is_refused_with_both_types(tmp_path):
    run(tmp_path, First(), stop_after=2)
    with pytest.raises(StateMismatchError) as refused:
        run(tmp_path, Refused())
    assert re.match(
        r"process '.*' \(\S*test_type_changes.py:\d+\): state 'row' was saved", str(refused.value)
    )
    assert "ROW<n INT, gone STRING>" in str(refused.value)
    assert "LONG" in str(refused.value)
    run(tmp_path, Second())  # nothing has happened to the state
    assert lines(tmp_path / "out") == sorted(expected(12))


class Untyped(KeyedProcessFunction):
    """Keeps a list of numbers that has no type."""

    type = None

    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", self.type))

    def process_element(self, value, ctx):
        self.seen.add(value)


class AsText(Untyped):
    """Wants strings where numbers are kept."""

    type = Types.STRING()


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=SPARK)])
def test_a_value_that_cannot_be_converted_is_refused_with_operator_and_line(tmp_path, on):
    run(tmp_path, Untyped(), stop_after=2, on=on)
    with pytest.raises(StateMismatchError) as refused:
        run(tmp_path, AsText(), on=on)
    assert re.match(
        r"process '.*' \(\S*test_type_changes.py:\d+\): the value of state 'seen' at key \d was saved as "
        r"ListState<PICKLED>, and cannot become ListState<STRING>; got int: \d+",
        str(refused.value),
    )


class DiesWhileMerging(LocalExecutor):
    """An executor whose process ends in a merge."""

    def merge(self, task):
        super().merge(task)
        raise KeyboardInterrupt


def test_a_driver_that_dies_while_it_converts_is_followed_by_one_that_does_it_again(tmp_path):
    run(tmp_path, First(), stop_after=2)
    with pytest.raises(EngineError):
        run(tmp_path, Second(), on=DiesWhileMerging)
    assert ManifestReader(Storage.of(tmp_path / "state")).epochs()[-1] == 2
    run(tmp_path, Second())
    assert lines(tmp_path / "out") == sorted(expected(12))
