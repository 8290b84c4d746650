"""Unbounded input: a job runs until it is stopped, goes on where it stopped, and acts on time when nothing comes."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from firesteel.common import Duration, JobStatus, WatermarkStrategy
from firesteel.common.errors import UserFunctionError
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.collect import CollectBuffer, CollectSink
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control import launch
from firesteel.control.running import running_jobs
from firesteel.datastream import execution
from firesteel.datastream.functions import KeyedProcessFunction, MapFunction, ProcessWindowFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.testing import ManualClock, ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Count, Watch, environment, restarting, running_job, start

pytestmark = pytest.mark.usefixtures("machine")

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


@pytest.fixture
def name(tmp_path):
    yield str(tmp_path)
    ledger.forget(str(tmp_path))


class At(MapFunction):
    """Stops or cancels the job from within, at a value, and may then fail."""

    def __init__(self, value, method, error=None):
        self.value, self.method, self.error = value, method, error

    def map(self, value):
        if value == self.value:
            getattr(running_job(), self.method)()
            if self.error is not None:
                raise self.error
        return value


def counting(env, source, name):
    stream = env.from_source(source, NO_WATERMARKS, "endless").key_by(lambda value: value % 3)
    stream.process(Count()).sink_to(ledger.LedgerSink(name))


def counts(records):
    return Counter((key, count) for key in range(3) for count in range(1, -(-(records - key) // 3) + 1))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_job_stops_at_the_end_of_an_epoch_and_goes_on_from_there(tmp_path, name, parallelism):
    watch = Watch(lambda handle, stats: handle.stop() if stats.epoch % 3 == 0 else None)
    for number in (1, 2, 3):
        with environment(tmp_path, parallelism=parallelism, epoch_records=10, listener=watch) as env:
            counting(env, DataGeneratorSource(lambda index: index), name)
            result = start(env, watch).wait(60)
        assert (result.status, result.epochs) == (JobStatus.FINISHED, 3 * number)
        records = sum(stats.records_in for stats in watch.epochs)
        assert records == 30 * number
        assert Counter(ledger.rows(name)) == counts(records)


def test_a_stop_in_the_middle_of_an_epoch_lets_it_end(tmp_path, name):
    watch = Watch(lambda handle, stats: None)
    with environment(tmp_path, epoch_records=10, listener=watch) as env:
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        stream.map(At(25, "stop")).sink_to(ledger.LedgerSink(name))
        result = start(env, watch).wait(60)
    assert (result.status, result.epochs) == (JobStatus.FINISHED, 3)
    assert ledger.rows(name) == list(range(30))


def test_a_cancel_throws_the_running_epoch_away(tmp_path, name):
    watch = Watch(lambda handle, stats: None)
    with environment(tmp_path, epoch_records=10, listener=watch) as env:
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        stream.map(At(25, "cancel")).sink_to(ledger.LedgerSink(name))
        result = start(env, watch).wait(60)
    assert (result.status, result.epochs) == (JobStatus.CANCELED, 2)
    assert ledger.rows(name) == list(range(20))


def test_a_stop_while_the_job_waits_to_restart_ends_it(tmp_path, name):
    class Waiting(ManualClock):
        def wait(self, timeout_ms, wakeup):
            if timeout_ms >= 10_000:
                running_job().stop()
            super().wait(timeout_ms, wakeup)

    watch = Watch(lambda handle, stats: None)
    with environment(
        tmp_path, epoch_records=10, options=restarting(99), clock=Waiting(1_000_000), listener=watch
    ) as env:
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        stream.map(lambda value: 1 // (25 - value) and value).sink_to(ledger.LedgerSink(name))
        result = start(env, watch).wait(60)
    assert (result.status, result.epochs) == (JobStatus.FINISHED, 2)
    assert len(ledger.rows(name)) == 20


def test_an_epoch_that_fails_after_a_stop_still_fails_the_job(tmp_path, name):
    watch = Watch(lambda handle, stats: None)
    with environment(tmp_path, epoch_records=10, listener=watch) as env:
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        stream.map(At(15, "stop", ValueError("too late"))).sink_to(ledger.LedgerSink(name))
        with pytest.raises(UserFunctionError, match="too late"):
            start(env, watch).wait(60)
    assert ledger.rows(name) == list(range(10))


def test_a_collecting_program_that_has_seen_enough_cancels_the_job(tmp_path):
    with environment(tmp_path, epoch_records=10) as env:
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        with stream.execute_and_collect() as results:
            assert [next(results) for _ in range(25)] == list(range(25))


class Holding(ManualClock):
    """Says when the job waits, which one whose input never ends does only for its reader."""

    def __init__(self) -> None:
        super().__init__(1_000_000)
        self.held = threading.Event()

    def wait(self, timeout_ms, wakeup):
        self.held.set()
        wakeup.wait(0.01)
        super().wait(timeout_ms, wakeup)


def test_results_that_nobody_reads_hold_the_job_back(tmp_path, monkeypatch):
    monkeypatch.setattr(
        CollectBuffer.__init__, "__defaults__", (25, *CollectBuffer.__init__.__defaults__[1:])
    )
    clock, watch = Holding(), Watch(lambda handle, stats: None)
    with environment(tmp_path, epoch_records=10, clock=clock, listener=watch) as env:
        monkeypatch.setattr(execution, "launch", lambda *given: watch.follow(launch(*given)))
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        with stream.execute_and_collect() as results:
            assert clock.held.wait(60)
            assert len(watch.epochs) == 3
            assert [next(results) for _ in range(1000)] == list(range(1000))
            clock.held.clear()
            assert clock.held.wait(60)
            assert 1000 < sum(stats.records_in for stats in watch.epochs) <= 1040
        # A job that is held back can be cancelled: leaving the block has done so.
    assert running_jobs() == ()


def interrupting(call, at):
    """`call`, interrupted by Ctrl-C when it is called for the `at`-th time."""
    calls = iter(range(1, at + 1))

    def interrupted(*arguments):
        if next(calls, None) == at:
            raise KeyboardInterrupt
        return call(*arguments)

    return interrupted


def test_ctrl_c_stops_a_job_that_is_waited_for(tmp_path, name):
    watch = Watch(lambda handle, stats: None)
    with environment(tmp_path, epoch_records=10, listener=watch) as env:
        counting(env, DataGeneratorSource(lambda index: index), name)
        handle = start(env, watch)
        handle._done.wait = interrupting(handle._done.wait, 1)
        with pytest.raises(KeyboardInterrupt):
            handle.wait(60)
    assert handle.status is JobStatus.FINISHED
    assert Counter(ledger.rows(name)) == counts(sum(stats.records_in for stats in watch.epochs))


def test_ctrl_c_stops_a_job_whose_results_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(CollectBuffer, "__next__", interrupting(CollectBuffer.__next__, 15))
    watch = Watch(lambda handle, stats: None)
    with environment(tmp_path, epoch_records=10, listener=watch) as env:
        stream = env.from_source(DataGeneratorSource(lambda index: index), NO_WATERMARKS, "endless")
        sink = stream._add_sink(CollectSink("results"), "results")
        handle = start(env, watch)
        results = handle.results(sink._node)
        assert [next(results) for _ in range(14)] == list(range(14))
        with pytest.raises(KeyboardInterrupt):
            next(results)
    assert handle.status is JobStatus.FINISHED


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Describe(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, len(list(elements))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_windows_fire_though_one_source_is_idle(tmp_path, name, parallelism):
    strategy = (
        WatermarkStrategy.for_monotonous_timestamps()
        .with_timestamp_assigner(SecondField())
        .with_idleness(Duration.of_seconds(30))
    )
    watch = Watch(lambda handle, stats: handle.stop() if ledger.rows(name) else None)
    clock = ManualClock(1_000_000)
    with environment(tmp_path, parallelism=parallelism, clock=clock, listener=watch) as env:
        busy = env.from_source(ScriptedSource([("a", 5), ("a", 25)], bounded=False), strategy, "busy")
        idle = env.from_source(ScriptedSource([], bounded=False), strategy, "idle")
        windows = (
            busy.union(idle)
            .key_by(lambda event: event[0])
            .window(TumblingEventTimeWindows.of(Duration.of_millis(10)))
        )
        windows.process(Describe()).sink_to(ledger.LedgerSink(name))
        start(env, watch).wait(60)
    assert ledger.rows(name) == [("a", 0, 1)]
    assert 1_030_000 <= clock.now() < 1_061_000


class Pending(KeyedProcessFunction):
    """Has an event-time timer and a processing-time one that would both be due in a thousand years."""

    def process_element(self, value, ctx):
        for register in ("register_event_time_timer", "register_processing_time_timer"):
            getattr(ctx.timer_service(), register)(32_000_000_000_000)
        yield "element", value[0]

    def on_timer(self, timestamp, ctx):
        yield ctx.time_domain().name, ctx.get_current_key()


@pytest.mark.parametrize("asked_at", ["busy", "waiting"])
def test_a_drain_fires_windows_and_timers_and_reads_no_more(tmp_path, name, asked_at):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    answers = []

    class Asking(ManualClock):
        def wait(self, timeout_ms, wakeup):
            if asked_at == "waiting" and not answers:
                answers.append(running_job().stop(drain=True))
            super().wait(timeout_ms, wakeup)

    def act(handle, stats):
        if asked_at == "busy" and stats.epoch == 1:
            answers.append(handle.stop(drain=True))

    def run(act, watch):
        with environment(
            tmp_path, parallelism=2, epoch_records=2, clock=Asking(1_000_000), listener=watch
        ) as env:
            events = [("a", 5), ("b", 6), ("a", 25), ("b", 26)]
            stream = env.from_source(ScriptedSource(events, bounded=False), strategy, "events")
            keyed = stream.key_by(lambda event: event[0])
            windows = keyed.window(TumblingEventTimeWindows.of(Duration.of_millis(10)))
            windows.process(Describe()).sink_to(ledger.LedgerSink(name))
            keyed.process(Pending()).sink_to(ledger.LedgerSink(name))
            return start(env, watch).wait(60)

    watch = Watch(act)
    assert run(act, watch).status is JobStatus.FINISHED
    assert watch.epochs[-1].finished
    read = {"busy": ["a", "b"], "waiting": ["a", "b", "a", "b"]}[asked_at]
    fired = [("a", 0, 1), ("b", 0, 1)]
    if asked_at == "waiting":
        fired += [("a", 20, 1), ("b", 20, 1)]
    expected = [("element", key) for key in read] + fired + [("EVENT_TIME", "a"), ("EVENT_TIME", "b")]
    assert sorted(ledger.rows(name)) == sorted(expected)
    assert answers[0].result() == f"FINISHED after epoch {len(watch.epochs)}"
    # It has ended for good.
    assert run(None, Watch(None)).epochs == len(watch.epochs)
    assert sorted(ledger.rows(name)) == sorted(expected)


class Later(KeyedProcessFunction):
    """Ten minutes after a key was first seen, says so."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value, ctx):
        if self.seen.value() is None:
            now = ctx.timer_service().current_processing_time()
            self.seen.update(now)
            ctx.timer_service().register_processing_time_timer(now + 600_000)
        yield from ()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp - self.seen.value()


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("restarts", [False, True])
def test_processing_time_timers_fire_without_input(tmp_path, name, parallelism, restarts):
    def run(clock, when):
        watch = Watch(lambda handle, stats: handle.stop() if when() else None)
        with environment(tmp_path, parallelism=parallelism, clock=clock, listener=watch) as env:
            stream = env.from_source(ScriptedSource(["a", "b", "a"], bounded=False), NO_WATERMARKS, "silent")
            stream.key_by(lambda value: value).process(Later()).sink_to(ledger.LedgerSink(name))
            start(env, watch).wait(60)

    clock = ManualClock(1_000_000)
    if restarts:
        run(clock, lambda: True)
        assert ledger.rows(name) == []
    run(clock, lambda: len(ledger.rows(name)) == 2)
    assert sorted(ledger.rows(name)) == [("a", 600_000), ("b", 600_000)]
    assert clock.now() - 1_600_000 in range(1000)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_generator_keeps_to_its_rate_and_a_restarted_job_does_not_catch_up(tmp_path, name, parallelism):
    def run(clock, until):
        watch = Watch(lambda handle, stats: handle.stop() if clock.now() >= until else None)
        with environment(tmp_path, parallelism=parallelism, clock=clock, listener=watch) as env:
            counting(env, DataGeneratorSource(lambda index: index, records_per_second=100), name)
            start(env, watch).wait(60)

    run(ManualClock(0), 5_000)
    first = len(ledger.rows(name))
    assert 500 <= first <= 511
    run(ManualClock(1_000_000), 1_002_000)
    assert 200 <= len(ledger.rows(name)) - first <= 211
    assert Counter(ledger.rows(name)) == counts(len(ledger.rows(name)))
