"""A driver that dies at any step of a compaction, a collection, going back, a change of types or of parallelism."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common import Types, WatermarkStrategy
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import ScriptedSource
from tests.recovery import ledger, pipeline
from tests.recovery.crashing import Crasher
from tests.recovery.upkeep import check_state, once, run, until_it_ends

pytestmark = pytest.mark.usefixtures("machine")

STEPS = ("a merge", "the removal of a manifest", "the removal of a run")
AROUND = [f"{when} {what}" for what in STEPS for when in ("before", "after")]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_every_step_happens(directory, parallelism):
    crasher = run(directory, parallelism)
    assert pipeline.output(directory) == pipeline.expected()
    assert {what for _, what in crasher.points} >= {*AROUND, "before job.json", "after job.json"}
    check_state(directory / "state")


@pytest.mark.parametrize("what", [*AROUND, "before the manifest", "after the manifest"])
def test_a_crash_at_each_step_of_compaction_and_collection(directory, what):
    assert until_it_ends([what], lambda crasher: run(directory, 2, crasher)) > 3
    assert pipeline.output(directory) == pipeline.expected()
    check_state(directory / "state")


def test_a_crash_at_single_steps_of_a_job(tmp_path):
    """A job that dies once, at every tenth of the steps of its state's upkeep."""
    with pipeline.made(tmp_path / "whole"):
        whole = run(tmp_path / "whole", 2)
    steps = [number for number, (_, what) in enumerate(whole.points, 1) if what in AROUND]
    assert len(steps) > 100
    for dies_at in steps[::10]:
        with pipeline.made(tmp_path / str(dies_at)):
            directory = tmp_path / str(dies_at)
            crasher = run(directory, 2, Crasher(lambda count, point, last=dies_at: count == last))
            assert crasher.crashed == whole.points[dies_at - 1]
            run(directory, 2)
            assert pipeline.output(directory) == pipeline.expected()
            check_state(directory / "state")


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(1, 400), st.booleans(), st.integers(1, 3)), min_size=1, max_size=6),
    st.integers(5, 40),
    st.booleans(),
)
def test_crashes_anywhere_while_state_is_compacted_and_jobs_are_rescaled(crashes, epoch_records, live):
    with (
        tempfile.TemporaryDirectory() as name,
        pipeline.made(Path(name)),
        pytest.MonkeyPatch.context() as patch,
    ):
        directory = Path(name)
        patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/0")

        def rescale(handle, stats):
            if live:
                handle.rescale(1 + stats.epoch % 3)

        for number, (dies_at, moves, parallelism) in enumerate(crashes):
            if moves:
                patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/{number}")
            crasher = Crasher(lambda count, point, last=dies_at: count == last)
            run(directory, parallelism, crasher, rescale, epoch_records=epoch_records)
        run(directory, 2, act=rescale, epoch_records=epoch_records)
        assert pipeline.output(directory) == pipeline.expected()
        check_state(directory / "state")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_each_change_of_parallelism(directory, when):
    def rescale(handle, stats):
        handle.rescale(1 + stats.epoch * 2 % 5)

    what = [f"{when} a change of parallelism"]
    assert until_it_ends(what, lambda crasher: run(directory, 1, crasher, rescale)) > 5
    assert pipeline.output(directory) == pipeline.expected()
    check_state(directory / "state")


# Going back: the command is given again until it has been carried out.


def test_a_crash_at_each_step_of_going_back(directory):
    twin = directory / "twin"
    with pipeline.made(twin):
        outputs = []
        for place, what in ((twin, []), (directory, ["before the manifest", "after the manifest"])):
            run(place, 2, act=lambda handle, stats: handle.stop() if stats.epoch == 4 else None)
            struck: set = set()
            back = 0
            while not back:
                started = once(what, struck)
                started.epoch = 0  # what is reached before the loop plans: going back itself
                run(place, 1, started, lambda handle, stats: handle.stop(), restore_from=kept(place))
                back = started.epoch
            run(place, 1)
            outputs.append(pipeline.output(place))
            check_state(place / "state")
        assert len(struck) >= 2
        assert outputs[0] == outputs[1]
        assert outputs[0]["ledger"] > pipeline.expected()["ledger"]
        assert set(outputs[0]["ledger"]) == set(pipeline.expected()["ledger"])


def kept(directory: Path) -> str:
    """The epoch to go back to: the last but one before any going back."""
    reader = ManifestReader(Storage.of(directory / "state"))
    found = [epoch for epoch in reader.epochs() if not reader.read(epoch).restored_from]
    return str(found[-2])


# A change of types.


class Total(KeyedProcessFunction):
    def __init__(self, wide):
        self.wide = wide

    def open(self, runtime_context):
        number = Types.DOUBLE() if self.wide else Types.INT()
        self.total = runtime_context.get_state(ValueStateDescriptor("total", number))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", number))

    def process_element(self, value, ctx):
        total = (self.total.value() or 0) + value[1]
        last = self.last.value() or 0
        self.total.update(float(total) if self.wide else total)
        self.last.update(float(value[1]) if self.wide else value[1])
        yield value[0], int(total), int(last)


EVENTS = [(f"k{number % 5}", number) for number in range(80)]


def totals(wide):
    def build(env, directory):
        events = env.from_source(ScriptedSource(EVENTS), WatermarkStrategy.no_watermarks(), "events")
        keyed = events.uid("events").key_by(lambda event: event[0])
        keyed.process(Total(wide)).uid("total").sink_to(ledger.LedgerSink(str(directory))).uid("out")

    return build


TOTALS = Counter(
    (f"k{number % 5}", sum(range(number % 5, number + 1, 5)), max(0, number - 5) if number >= 5 else 0)
    for number in range(80)
)
EVOLVING = [
    f"{when} {what}"
    for what in ("a change of types", "a merge", "the manifest", "the removal of a run")
    for when in ("before", "after")
]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_crash_at_each_step_of_a_change_of_types(directory, parallelism):
    stop = lambda handle, stats: handle.stop() if stats.epoch == 3 else None  # noqa: E731
    run(directory, 2, act=stop, build=totals(wide=False), epoch_records=10)
    times = until_it_ends(
        EVOLVING,
        lambda crasher: run(directory, parallelism, crasher, build=totals(wide=True), epoch_records=10),
    )
    assert times > 20
    assert Counter(ledger.rows(str(directory))) == TOTALS
    check_state(directory / "state")
