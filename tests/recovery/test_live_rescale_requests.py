"""Changes of parallelism that are asked for at odd moments, and with everything else that can be asked of a job."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common import JobStatus, Types, WatermarkStrategy
from firesteel.common.errors import FiresteelError, StateError
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.control.pacing import EAGER_POLL_MS
from firesteel.datastream import execution
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.state.disk.copy import close_working_stores
from firesteel.testing import ScriptedSource
from tests.control import test_restoring as broadcasting
from tests.recovery import ledger
from tests.recovery.jobs import Interrupting, Watch, environment, fails_once, lines, restarting, start

pytestmark = pytest.mark.usefixtures("machine")

BUSY = MaintenancePolicy(2, 3, inline=True)


@pytest.fixture
def name(tmp_path: Path) -> Iterator[str]:
    yield str(tmp_path)
    ledger.forget(str(tmp_path))


PARALLELISMS = st.lists(st.none() | st.integers(1, 5), min_size=3, max_size=12)


def following(plan, answers):
    """After each epoch, ask for the parallelism planned for it."""

    def act(handle, stats):
        wanted = plan[(stats.epoch - 1) % len(plan)]
        if wanted is not None:
            answers.append((wanted, handle.rescale(wanted)))

    return act


@settings(max_examples=8)
@given(PARALLELISMS, st.integers(1, 5))
def test_keyed_and_broadcast_state_and_count_windows(plan, first):
    with tempfile.TemporaryDirectory() as name:
        try:
            broadcasting.run(Path(name), name, act=following(plan, []), parallelism=first, maintenance=BUSY)
            assert Counter(ledger.rows(name)) == broadcasting.whole()
        finally:
            ledger.forget(name)
            close_working_stores(Path(name))


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_processing_time_timer(
            ctx.timer_service().current_processing_time() + 200
        )
        yield ctx.get_current_key(), self.count.value()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "later", self.count.value()


EVENTS = [(f"k{number % 9}", number) for number in range(90)]
COUNTS = Counter((key, number // 9 + 1) for key, number in EVENTS)


def count(directory, name, act, parallelism=2, clock=None, events=EVENTS, bounded=True, prepare=None, **more):
    """Count events by key, in epochs of six; `prepare(env, stream)` may change the program."""
    watch = Watch(act)
    options = {"epoch_records": 6, "maintenance": BUSY, **more}
    with environment(directory, parallelism=parallelism, listener=watch, clock=clock, **options) as env:
        source = ScriptedSource(events, bounded=bounded)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "events")
        counted = (
            (prepare(env, stream) if prepare else stream).key_by(lambda event: event[0]).process(Count())
        )
        counted.sink_to(ledger.LedgerSink(name))
        handle = start(env, watch)
        return handle, handle.wait(60)


def counts(name):
    return Counter(row for row in ledger.rows(name) if len(row) == 2)


def test_more_than_the_maximum_is_refused_and_the_job_goes_on(tmp_path, name):
    answers: list = []
    count(tmp_path, name, following([3, 129, 2, 500, None, 8], answers))
    assert counts(name) == COUNTS
    for wanted, answer in answers[:-1]:
        if wanted <= 128:
            assert answer.result(0) == f"parallelism {wanted}"
        else:
            error = answer.exception(0)
            assert isinstance(error, FiresteelError)
            assert "128" in str(error)


def test_operators_with_a_parallelism_of_their_own_keep_it(tmp_path, name):
    def prepare(env, stream):
        return stream.rebalance().map(lambda value: value).set_parallelism(3)

    found = []

    def act(handle, stats):
        last = ManifestReader(Storage.of(tmp_path / "state")).latest()
        found.append({snapshot.name: snapshot.parallelism for snapshot in last.operators.values()})
        handle.rescale(1 + stats.epoch % 4)

    count(tmp_path, name, act, prepare=prepare)
    assert counts(name) == COUNTS
    own = {parallelism for snapshot in found for key, parallelism in snapshot.items() if "map" in key.lower()}
    assert own == {3}
    assert {tuple(sorted(set(snapshot.values()))) for snapshot in found} >= {(1, 3), (2, 3), (3, 4)}


def failing_once(directory):
    """A program that fails at event 40, the first time."""

    def fail(event):
        if event[1] == 40:
            fails_once(directory / "failed")
        return event

    return lambda env, stream: stream.map(fail)


@pytest.mark.parametrize("what", ["rescale", "savepoint"])
def test_what_is_asked_while_the_job_backs_off_is_done_afterwards_and_does_not_hurry_it(tmp_path, name, what):
    running, answers, times = [], [], []

    def ask():
        assert running[0].status is JobStatus.RESTARTING
        answers.append(running[0].rescale(4) if what == "rescale" else running[0].savepoint())

    clock = Interrupting(10_000, ask)

    def act(handle, stats):
        running[:] = [handle]
        times.append(clock.now())

    failing = failing_once(tmp_path)
    handle, _ = count(tmp_path, name, act, clock=clock, prepare=failing, options=restarting(1, "10 s"))
    assert counts(name) == COUNTS
    assert min(time for time in times if time > clock.acted_at) >= clock.acted_at + 10_000
    if what == "rescale":
        assert answers[0].result(0) == "parallelism 4"
    else:
        assert open_savepoint(Storage.of(answers[0].result(0))).epoch == 6
    assert handle.status is JobStatus.FINISHED


def test_a_stop_while_the_job_backs_off_does_not_wait(tmp_path, name):
    running: list = []
    clock = Interrupting(3_600_000, lambda: running[0].stop())
    failing = failing_once(tmp_path)

    def act(handle, stats):
        running[:] = [handle]

    count(tmp_path, name, act, clock=clock, prepare=failing, options=restarting(1, "2 h"))
    assert clock.now() - clock.acted_at < 7_200_000
    assert counts(name).total() == 36
    count(tmp_path, name, act, prepare=failing)
    assert counts(name) == COUNTS


def test_while_the_job_waits_for_input(tmp_path, name):
    """Processing-time timers of the subtasks there were are fired by those there are."""
    answers: list = []
    handles: list = []

    def ask():
        answers.append(handles[0].rescale(5))

    clock = Interrupting(EAGER_POLL_MS, ask)

    def act(handle, stats):
        handles[:] = [handle]
        later = sum(len(row) == 3 for row in ledger.rows(name))
        if later >= 9 and answers:
            handle.stop()

    handle, _ = count(tmp_path, name, act, clock=clock, bounded=False, parallelism=1)
    assert answers[0].result(0) == "parallelism 5"
    assert counts(name) == COUNTS
    assert {row[0] for row in ledger.rows(name) if len(row) == 3} == {f"k{number}" for number in range(9)}
    assert handle.status is JobStatus.FINISHED


def test_together_with_savepoints_and_compaction(tmp_path, name):
    answers: list = []

    def act(handle, stats):
        answers.append((stats.epoch, len(ledger.rows(name)), handle.savepoint()))
        handle.rescale(1 + stats.epoch % 5)
        if stats.epoch % 3 == 0:
            handle.rescale(2)

    count(tmp_path, name, act)
    assert counts(name) == COUNTS
    assert ManifestReader(Storage.of(tmp_path / "state")).latest().compacted > 3
    for epoch, _, answer in answers:
        found = Storage.of(answer.result(0))
        assert open_savepoint(found).epoch == epoch
        assert damage_of(found, epoch) is None
    for epoch, visible, answer in answers[2:9:3]:
        other = tmp_path / str(epoch)
        other.mkdir()
        count(
            other,
            str(other),
            lambda handle, stats: handle.rescale(1 + stats.epoch % 4),
            restore_from=answer.result(0),
        )
        before = Counter(row for row in ledger.rows(name)[:visible] if len(row) == 2)
        assert before + counts(str(other)) == COUNTS
        ledger.forget(str(other))


def test_open_parts_are_finished_and_none_is_overwritten(tmp_path):
    def build(env):
        events = env.from_source(ScriptedSource(EVENTS), WatermarkStrategy.no_watermarks(), "events")
        written = events.rebalance().map(str, Types.STRING())
        for name, policy in (("long", RollingPolicy(part_size=200)), ("each", RollingPolicy.on_epoch())):
            written.sink_to(FileSink(tmp_path / name, TextLines(), BasePathBuckets(), policy)).uid(name)

    watch = Watch(lambda handle, stats: handle.rescale(1 + stats.epoch * 3 % 5))
    with environment(tmp_path, parallelism=3, listener=watch, epoch_records=5) as env:
        build(env)
        start(env, watch).wait(60)
    for name in ("long", "each"):
        assert lines(tmp_path / name) == sorted(map(str, EVENTS))
        assert [path for path in (tmp_path / name).iterdir() if path.name.startswith(".")] == []


def test_what_is_collected_by_the_program(tmp_path, monkeypatch):
    watch = Watch(lambda handle, stats: handle.rescale(1 + stats.epoch % 3))
    launch = execution.launch
    monkeypatch.setattr(execution, "launch", lambda *given: watch.follow(launch(*given)))
    with environment(tmp_path, parallelism=2, listener=watch, epoch_records=6) as env:
        events = env.from_source(ScriptedSource(EVENTS), WatermarkStrategy.no_watermarks(), "events")
        with events.key_by(lambda event: event[0]).process(Count()).execute_and_collect() as results:
            found = list(results)
    assert Counter(row for row in found if len(row) == 2) == COUNTS
    assert len(watch.epochs) == 15


def test_a_job_that_has_ended_cannot_be_rescaled(tmp_path, name):
    handle, _ = count(tmp_path, name, lambda handle, stats: None)
    with pytest.raises(StateError, match="the job has ended"):
        handle.rescale(3).result(0)
    with pytest.raises(StateError, match="the job has ended"):
        handle.savepoint().result(0)
