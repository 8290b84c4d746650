"""The machine's clock is set while a job runs: rates, discovery, restarts and timers take the time they take."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from firesteel.common import JobStatus, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream.functions import KeyedProcessFunction
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
