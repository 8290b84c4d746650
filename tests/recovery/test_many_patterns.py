"""Many patterns, and patterns that are defined by a stream, through restarts and changes of parallelism."""

from __future__ import annotations

import pytest

from firesteel.cep import CEP, PatternProcessFunction, PatternProcessor, TimedOutPartialMatchHandler
from firesteel.common import Duration, WatermarkStrategy
from firesteel.testing import ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, start
from tests.recovery.test_patterns import CHANGES, EVENTS, LATE, Third

pytestmark = pytest.mark.usefixtures("machine")


class Everything(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match, ctx):
        yield ctx.pattern_id(), ctx.pattern_version(), match, ctx.timestamp()

    def process_timed_out_match(self, match, ctx):
        yield LATE, ("late", ctx.pattern_id(), ctx.pattern_version(), match, ctx.timestamp())


def text(then):
    return f"""
        select * from every a = Event(f1 = 'a') -> b = Event(f1 = 'b')+ -> c = Event(f1 = '{then}')
        within 40 milliseconds
    """


DEFINITIONS = [
    PatternProcessor("p", 1, text("c")),
    PatternProcessor("q", 1, text("a")),
    PatternProcessor("p", 2, text("b"), timestamp=120),
    PatternProcessor("q", timestamp=150),
]


def found_in(env, events):
    definitions = env.from_collection(DEFINITIONS).set_parallelism(1)
    return CEP.dynamic_patterns(events, definitions).process(Everything())


def found_by(env, events):
    return CEP.patterns(events, {"p": text("c"), "q": text("a")}).process(Everything())


def run(directory, parallelism, made, stop_after=None):
    """Run the program, at most to the end of an epoch; return what is in its ledger."""
    watch = Watch(lambda handle, stats: handle.stop() if stats.epoch == stop_after else None)
    with environment(
        directory, on="process", parallelism=parallelism, epoch_records=6, listener=watch
    ) as env:
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(10))
        events = env.from_source(ScriptedSource(EVENTS), strategy.with_timestamp_assigner(Third()), "events")
        found = made(env, events.key_by(lambda event: event[0])).uid("cep")
        found.union(found.get_side_output(LATE)).sink_to(ledger.LedgerSink(str(directory)))
        start(env, watch).wait(60)
    return sorted(ledger.rows(str(directory)), key=repr)


@pytest.mark.parametrize("made", [found_by, found_in])
@pytest.mark.parametrize("epoch", [2, 6])
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_matches_go_on_at_another_parallelism(tmp_path, made, before, after, epoch):
    whole = run(tmp_path / "whole", 1, made)
    assert len(whole) > 20
    begun = run(tmp_path, before, made, stop_after=epoch)
    assert len(begun) < len(whole)
    assert run(tmp_path, after, made) == whole
    ledger.forget(str(tmp_path))
    ledger.forget(str(tmp_path / "whole"))
