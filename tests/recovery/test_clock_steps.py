"""The machine's clock is set while a job runs: rates, discovery, restarts and timers take the time they take."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from firesteel.common import Duration, JobStatus, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream.functions import KeyedProcessFunction, ProcessFunction
from firesteel.functions.source import Boundedness, RecordBatches, Source, Split
from firesteel.testing import ManualClock, ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, fails_once, restarting, start

pytestmark = pytest.mark.usefixtures("machine")

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
BEGIN = 1_000_000_000
DAY = 86_400_000
STEPS = pytest.mark.parametrize("step", [-DAY, DAY], ids=["back", "forward"])


@pytest.fixture
def name(tmp_path):
    yield str(tmp_path)
    ledger.forget(str(tmp_path))


@pytest.fixture
def clock():
    return ManualClock(BEGIN)


def stepping(clock, step):
    """Sets the clock after the second epoch."""
    return Watch(lambda handle, stats: clock.set(clock.now() + step) if stats.epoch == 2 else None)


@STEPS
def test_a_rate_stays_what_it_is(tmp_path, name, clock, step):
    watch = stepping(clock, step)
    with environment(tmp_path, clock=clock, listener=watch) as env:
        source = DataGeneratorSource(lambda index: index, count=101, records_per_second=100)
        env.from_source(source, NO_WATERMARKS, "paced").sink_to(ledger.LedgerSink(name))
        start(env, watch).wait(60)
    assert ledger.rows(name) == list(range(101))
    assert 1000 <= clock.monotonic() < 1200


class Appearing(Source[int]):
    """A split of one record at each look, five in all."""

    discovery_interval = 1000

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [Split(str(len(known)), 0, 1)] if len(known) < 5 else []

    def read(self, split: Split, start: int, end: int) -> RecordBatches[int]:
        yield [int(split.id)]
        return None


@STEPS
def test_discovery_keeps_its_interval(tmp_path, name, clock, step):
    def act(handle, stats):
        if stats.epoch == 2:
            clock.set(clock.now() + step)
        if stats.epoch == 5:
            handle.stop()

    watch = Watch(act)
    with environment(tmp_path, clock=clock, listener=watch) as env:
        env.from_source(Appearing(), NO_WATERMARKS, "appearing").sink_to(ledger.LedgerSink(name))
        assert start(env, watch).wait(60).status is JobStatus.FINISHED
    assert ledger.rows(name) == [0, 1, 2, 3, 4]
    assert 4000 <= clock.monotonic() < 4500


class Later(KeyedProcessFunction):
    """Emits when it is called back, a second later."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(
            ctx.timer_service().current_processing_time() + 1000
        )

    def on_timer(self, timestamp, ctx):
        yield timestamp


def test_a_timer_does_not_wait_for_a_clock_that_was_set_back(tmp_path, name, clock):
    def act(handle, stats):
        clock.set(BEGIN - DAY) if stats.epoch == 1 else handle.stop()

    watch = Watch(act)
    with environment(tmp_path, clock=clock, listener=watch) as env:
        stream = env.from_source(ScriptedSource([1], bounded=False), NO_WATERMARKS, "one")
        stream.key_by(lambda value: value).process(Later()).sink_to(ledger.LedgerSink(name))
        start(env, watch).wait(60)
    assert ledger.rows(name) == [BEGIN + 1000]
    assert 1000 <= clock.monotonic() <= 2100


@STEPS
def test_a_restart_waits_as_long_as_it_is_to(tmp_path, name, step):
    class Stepping(ManualClock):
        """Is set in the middle of the delay before the restart."""

        def wait(self, timeout_ms, wakeup):
            if timeout_ms == 10_000:
                self.advance(5_000)
                self.set(self.now() + step)
                wakeup.set()
            super().wait(timeout_ms, wakeup)

    clock = Stepping(BEGIN)
    with environment(tmp_path, clock=clock, options=restarting(1)) as env:
        stream = env.from_source(ScriptedSource([1, 2]), NO_WATERMARKS, "numbers")
        stream.map(lambda value: fails_once(tmp_path / "failed") or value).sink_to(ledger.LedgerSink(name))
        start(env).wait(60)
    assert ledger.rows(name) == [1, 2]
    assert clock.monotonic() == 10_000


def test_processing_time_does_not_go_back_from_one_driver_to_the_next(tmp_path, name):
    class Now(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.timer_service().current_processing_time()

    for begin in (BEGIN, BEGIN - DAY):
        watch = Watch(lambda handle, stats: handle.stop())
        with environment(tmp_path, clock=ManualClock(begin), epoch_records=1, listener=watch) as env:
            stream = env.from_source(ScriptedSource([1, 2], bounded=False), NO_WATERMARKS, "numbers")
            stream.key_by(lambda value: value).process(Now()).sink_to(ledger.LedgerSink(name))
            start(env, watch).wait(60)
    first, second = ledger.rows(name)
    assert second >= first == BEGIN


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Marks(KeyedProcessFunction):
    """Emits the times of its timers: the hundreds that the watermark has passed."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value // 100 * 100)

    def on_timer(self, timestamp, ctx):
        yield timestamp


class Untouched(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


IDLE_AFTER = 30_000
WITH_IDLENESS = (
    WatermarkStrategy.for_monotonous_timestamps()
    .with_timestamp_assigner(Itself())
    .with_idleness(Duration.of_millis(IDLE_AFTER))
)
IN_THE_MIDDLE = pytest.mark.parametrize("in_the_middle", [False, True], ids=["source", "in the middle"])


def run_beside_a_quiet_source(directory, name, clock, script, act, in_the_middle=False):
    """Runs a source that reads `script` beside one that has nothing; `act` is called after each epoch."""
    watch = Watch(act)
    with environment(directory, clock=clock, listener=watch) as env:
        streams = [
            env.from_source(
                ScriptedSource(records, bounded=False),
                NO_WATERMARKS if in_the_middle else WITH_IDLENESS,
                source,
            )
            for source, records in (("busy", script), ("quiet", []))
        ]
        if in_the_middle:
            streams = [
                stream.process(Untouched()).assign_timestamps_and_watermarks(WITH_IDLENESS)
                for stream in streams
            ]
        marks = streams[0].union(streams[1]).key_by(lambda _: 0).process(Marks())
        marks.sink_to(ledger.LedgerSink(name))
        assert start(env, watch).wait(60).status is JobStatus.FINISHED


def once_there_are(name, rows):
    """Stops the job when this many rows have come."""
    return lambda handle, _: handle.stop() if len(ledger.rows(name)) == rows else None


@STEPS
@IN_THE_MIDDLE
def test_a_source_becomes_idle_when_its_timeout_has_passed(tmp_path, name, clock, step, in_the_middle):
    def act(handle, stats):
        if stats.epoch == 1:
            clock.set(clock.now() + step)
        once_there_are(name, 1)(handle, stats)

    run_beside_a_quiet_source(tmp_path, name, clock, [100, 150], act, in_the_middle)
    assert ledger.rows(name) == [100]
    assert IDLE_AFTER <= clock.monotonic() < IDLE_AFTER + 1000


@STEPS
@IN_THE_MIDDLE
def test_the_timeout_begins_anew_when_a_job_resumes(tmp_path, name, clock, step, in_the_middle):
    def act(handle, stats):
        clock.advance(IDLE_AFTER // 2)
        handle.stop()

    run_beside_a_quiet_source(tmp_path, name, clock, [100, 150], act, in_the_middle)
    assert ledger.rows(name) == []
    resumed = ManualClock(clock.now() + step)
    run_beside_a_quiet_source(tmp_path, name, resumed, [100, 150], once_there_are(name, 1), in_the_middle)
    assert ledger.rows(name) == [100]
    assert IDLE_AFTER <= resumed.monotonic() < IDLE_AFTER + 1000


def test_a_source_that_was_idle_holds_others_back_when_a_job_resumes(tmp_path, name, clock):
    run_beside_a_quiet_source(tmp_path, name, clock, [100, 150], once_there_are(name, 1))
    resumed = ManualClock(clock.now() + DAY)
    more = [100, 150, 200, 250]
    run_beside_a_quiet_source(tmp_path, name, resumed, more, once_there_are(name, 2))
    assert ledger.rows(name) == [100, 200]
    assert IDLE_AFTER <= resumed.monotonic() < IDLE_AFTER + 1000
