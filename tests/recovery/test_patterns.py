"""Partial matches through failures, restarts and changes of parallelism; patterns that have changed meanwhile."""

from __future__ import annotations

import random

import pytest

from firesteel.cep import CEP, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from firesteel.common import Duration, WatermarkStrategy
from firesteel.common.errors import StateMismatchError
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import OutputTag
from firesteel.testing import ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, start

pytestmark = pytest.mark.usefixtures("machine")

LATE = OutputTag("late")
CHANCE = random.Random(4)
EVENTS = [
    (f"k{CHANCE.randrange(4)}", CHANCE.choice("aabbc"), number * 3 + CHANCE.randrange(10))
    for number in range(60)
]
CHANGES = [(1, 3), (3, 1), (2, 3), (3, 2), (2, 2)]


class Third(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Everything(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match, ctx):
        yield "match", match, ctx.timestamp()

    def process_timed_out_match(self, match, ctx):
        yield LATE, ("late", match, ctx.timestamp())


def pattern(last="c"):
    found = Pattern.begin("a").where(lambda event: event[1] == "a")
    found = found.followed_by("b").where(lambda event: event[1] == "b").one_or_more()
    found = found.followed_by("c").where(lambda event: event[1] == last)
    return found.within(Duration.of_millis(40))


def program(env, name, matched):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(10))
    events = env.from_source(ScriptedSource(EVENTS), strategy.with_timestamp_assigner(Third()), "events")
    found = CEP.pattern(events.key_by(lambda event: event[0]), matched).process(Everything()).uid("cep")
    found.union(found.get_side_output(LATE)).sink_to(ledger.LedgerSink(name))


def run(directory, parallelism, matched, stop_after=None):
    """Run the program, at most to the end of an epoch; return what is in its ledger."""
    watch = Watch(lambda handle, stats: handle.stop() if stats.epoch == stop_after else None)
    with environment(
        directory, on="process", parallelism=parallelism, epoch_records=6, listener=watch
    ) as env:
        program(env, str(directory), matched)
        start(env, watch).wait(60)
    return sorted(ledger.rows(str(directory)), key=repr)


@pytest.fixture
def whole(tmp_path):
    """What one run finds, left alone."""
    found = run(tmp_path / "whole", 1, pattern())
    ledger.forget(str(tmp_path / "whole"))
    return found


@pytest.mark.parametrize("epoch", [1, 4, 7])
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_matches_go_on_at_another_parallelism(tmp_path, whole, before, after, epoch):
    assert len(whole) > 30
    begun = run(tmp_path, before, pattern(), stop_after=epoch)
    assert len(begun) < len(whole)
    assert run(tmp_path, after, pattern()) == whole
    ledger.forget(str(tmp_path))


def test_conditions_may_change(tmp_path, whole):
    run(tmp_path, 2, pattern(), stop_after=5)
    assert run(tmp_path, 2, pattern(last="b")) != whole
    ledger.forget(str(tmp_path))


def test_state_of_a_pattern_with_other_steps_is_refused(tmp_path):
    run(tmp_path, 2, pattern(), stop_after=5)
    with pytest.raises(StateMismatchError, match="requires a pattern of the shape") as raised:
        run(tmp_path, 3, pattern().next("d"))
    assert "+ 1 d normal" in str(raised.value)
    ledger.forget(str(tmp_path))
