"""The operator finds in streams what Flink's finds, whatever its epochs: `flink/ask_patterns.py` has asked."""

from __future__ import annotations

import gc
import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from firesteel.cep import (
    AfterMatchSkipStrategy,
    Pattern,
    PatternProcessFunction,
    TimedOutPartialMatchHandler,
)
from firesteel.common import Duration
from firesteel.common.errors import ProgramError, UserFunctionError
from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.demands import Demand, Demands
from firesteel.functions.patterns.written import WrittenCondition
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.operator import PatternOperator
from firesteel.runtime.patterns.shelves import Link
from tests.runtime.patterns.calls import pattern_of
from tests.runtime.window_harness import LATE, STEP, Harness

ANSWERS = Path(__file__).parent / "flink" / "streams.jsonl.gz"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in gzip.decompress(ANSWERS.read_bytes()).splitlines()
]
LIVES = {"one epoch": {}, "some epochs": {"epoch": 17}, "some lives": {"epoch": 29, "restart": True}}


class ShowMatches(PatternProcessFunction):
    """Emits matches in the form of the answers, and is not told of partial matches that end."""

    def process_match(self, match, ctx):
        yield ["m", ctx.timestamp(), *_steps(match)]


class Numbers(PatternProcessFunction):
    """Emits the numbers of a match."""

    def process_match(self, match, ctx):
        yield [event["n"] for events in match.values() for event in events]


class Show(ShowMatches, TimedOutPartialMatchHandler):
    """Emits partial matches that end, too."""

    def process_timed_out_match(self, match, ctx):
        ctx.output(LATE, ["t", ctx.timestamp(), *_steps(match)])


def _steps(match):
    return [[[name, [event[0] for event in events]] for name, events in match.items()]]


class PatternHarness(Harness):
    """A pattern operator."""

    def __init__(
        self,
        definition: PatternDefinition,
        *,
        told: bool = True,
        show: PatternProcessFunction | None = None,
        **more: Any,
    ) -> None:
        function = show or (Show() if told else ShowMatches())
        self._live(partial(PatternOperator, definition, function, **{"late_tag": LATE, **more}))


def answers_of(harness: PatternHarness) -> list[Any]:
    late = [["l", found[0]] if type(found) is tuple else found for found in harness.late()]
    return sorted([*harness.values(), *late], key=repr)


def timeless(answers: list[Any], calls: list[Any]) -> list[Any]:
    """Leave out when Flink shows a match that waits for a time to pass: it depends on watermarks."""
    absent = [call[0] for call in calls if call[0] not in ("where", "within", "optional")][
        -1
    ] == "not_followed_by"
    waits = absent or len(calls[0]) > 2
    return sorted([["m", *found[2:]] if waits and found[0] == "m" else found for found in answers], key=repr)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("life", LIVES)
@pytest.mark.parametrize("number", range(len(CASES)))
def test_streams_as_flink(number, life, told):
    case, asked = CASES[number], 0
    events = [(place, *event[1:4]) for place, event in enumerate(case["events"])]
    play = []
    for event, (key, *_, watermark) in zip(events, case["events"], strict=True):
        play += [(key, event, event[3]), (STEP, None, watermark)]
    for calls, answer in zip(case["patterns"], case["answers"], strict=True):
        definition = pattern_of(calls).definition() if answer else None
        if definition is None:
            continue
        harness = PatternHarness(definition, told=told)
        harness.play(play, **LIVES[life])
        harness.finish()
        expected = answer if told else [found for found in answer if found[0] != "t"]
        assert timeless(answers_of(harness), calls) == timeless(expected, calls), calls
        assert harness.leftovers() == []
        asked += 1
    assert asked > 30


def test_watermarks_change_nothing():
    """In Flink the last two answers have the time of the watermark."""
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").not_followed_by("b")
    pattern = pattern.where(lambda event: event[1] == "b").within(Duration.of_millis(5))
    events = [("k", (0, "a"), 1), ("k", (1, "a"), 2), ("k", (2, "b"), 6), ("k", (3, "a"), 9)]
    expected = [(6, ["m", 6, [["a", [0]]]]), (14, ["m", 14, [["a", [3]]]])]
    for marks in ([], [1, 2, 6, 9], [8]):
        harness = PatternHarness(pattern.definition())
        harness.batch(*events)
        for mark in marks:
            harness.watermark(mark)
        harness.finish()
        assert harness.out() == expected


def test_what_is_over_leaves_nothing():
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").followed_by_any("b").one_or_more()
    pattern = pattern.where(lambda event: event[1] == "b").within(Duration.of_millis(20))
    harness = PatternHarness(pattern.definition())
    for place in range(8):
        harness.batch(("k", (place, "ab"[place % 2]), place))
        harness.watermark(place - 2)
        harness.epoch(restart=bool(place % 3))
    assert harness.entries
    harness.watermark(40)
    assert harness.leftovers() == []


def test_a_comparison_that_fails_is_told_only_of_events_that_a_match_waits_for():
    small = WrittenCondition("get(e, 'n') < 5", {}, demands=Demands((Demand("n", "<", (5,)),), whole=True))
    pattern = Pattern.begin("a").where(lambda event: event["n"] == 7).followed_by("b").where(small)
    harness = PatternHarness(pattern.definition(), show=Numbers())
    harness.batch(("k", {"n": "many"}, 1), ("k", {"n": 7}, 2), ("k", {"n": 9}, 3), ("k", {"n": 4}, 4))
    harness.watermark(4)
    assert harness.values() == [[7, 4]]
    harness.batch(("k", {"n": 7}, 5), ("k", {"n": "many"}, 6))
    with pytest.raises(UserFunctionError, match="the condition of 'b' failed"):
        harness.watermark(6)


def test_keys_without_further_events_leave_nothing_soon_after_the_window():
    pattern = Pattern.begin("a").followed_by("b").where(lambda event: event[1] == "b")
    pattern = pattern.within(Duration.of_millis(800))
    harness = PatternHarness(pattern.definition(), told=False)
    for epoch in range(10):
        events = [(f"k{place}", (place, "a"), place) for place in range(60 * epoch, 60 * epoch + 60)]
        harness.batch(*events)
        harness.watermark(60 * epoch + 59)
        harness.epoch(restart=bool(epoch % 3))
    last = 599
    harness.watermark(last + 800 + 100)
    harness.epoch()
    assert harness.leftovers() == []
    assert harness.out() == []


def test_a_match_that_is_held_back_comes_when_what_holds_it_ends():
    """With a skip strategy a match waits for an earlier partial match, to the millisecond, also if nobody is told."""
    skip = AfterMatchSkipStrategy.skip_past_last_event()
    pattern = Pattern.begin("a", skip).where(lambda event: event[1] in "ab").one_or_more().greedy()
    pattern = pattern.followed_by("c").where(lambda event: event[1] == "c").within(Duration.of_millis(16))
    events = [("k", (0, "a"), 0), ("k", (1, "b"), 3), ("k", (2, "c"), 5), ("k", (3, "x"), 30)]
    found = {}
    for told in (True, False):
        for marks in ([], [0, 3, 5, 14, 15, 16, 17, 30]):
            harness = PatternHarness(pattern.definition(), told=told)
            harness.batch(*events)
            for mark in marks:
                harness.watermark(mark)
                harness.epoch(restart=True)
            harness.finish()
            found[told, bool(marks)] = harness.out()
    assert found[True, False]
    assert len({repr(out) for out in found.values()}) == 1


def test_a_long_match_is_not_in_memory():
    """100,000 events of one key: what is in memory is bounded by what comes in an epoch."""
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").followed_by("x").one_or_more()
    pattern = pattern.consecutive().greedy().where(lambda event: event[1] == "x").next("b")
    harness = PatternHarness(pattern.where(lambda event: event[1] == "b").definition())
    epochs, size = 20, 5_000
    harness.batch(("k", (0, "a"), 0))
    most = 0
    for epoch in range(epochs):
        first = 1 + epoch * size
        harness.batch(*[("k", (number, "x"), number) for number in range(first, first + size)])
        harness.watermark(first + size - 1)
        most = max(most, links_in_memory())
        harness.epoch(restart=epoch % 7 == 6)
        assert links_in_memory() == 0
    assert size <= most < 1.1 * size
    harness.batch(("k", (epochs * size + 1, "b"), epochs * size + 1))
    harness.finish()
    ((_, _, steps),) = harness.values()
    assert [len(events) for _, events in steps] == [1, epochs * size, 1]
    assert harness.leftovers() == []


def links_in_memory():
    gc.collect()
    return sum(type(thing) is Link for thing in gc.get_objects())


def test_idle_keys_touch_no_state():
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").next("b")
    harness = PatternHarness(pattern.definition())
    harness.batch(*[(f"k{place}", (place, "x"), place) for place in range(50)])
    harness.watermark(60)
    harness.epoch()
    assert harness.entries == {}


def test_processing_time_goes_on_between_epochs():
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").followed_by("b")
    pattern = pattern.where(lambda event: event[1] == "b").within(Duration.of_millis(10))
    harness = PatternHarness(pattern.definition(), event_time=False)
    harness.time(100)
    harness.batch(("k", (0, "a"), None), ("j", (1, "a"), None))
    harness.epoch()
    harness.time(109)
    harness.batch(("k", (2, "b"), None))
    assert harness.out() == [(None, ["m", 109, [["a", [0]], ["b", [2]]]])]
    harness.time(110)
    harness.batch(("j", (3, "b"), None))
    assert harness.late() == [["t", 110, [["a", [1]]]]]
    assert harness.out() == []


def test_a_comparator_waits_for_the_next_millisecond():
    pattern = (
        Pattern.begin("a").where(lambda event: event[1] == "a").next("b").where(lambda event: event[1] == "b")
    )
    by_letter = lambda one, two: (one[1] > two[1]) - (one[1] < two[1])  # noqa: E731
    harness = PatternHarness(pattern.definition(), event_time=False, comparator=by_letter)
    harness.time(100)
    harness.batch(("k", (0, "b"), None), ("k", (1, "a"), None))
    assert harness.out() == []
    harness.epoch(restart=True)
    harness.time(101)
    assert harness.values() == [["m", 100, [["a", [1]], ["b", [0]]]]]


def test_refused_patterns_have_no_answers():
    for case in CASES:
        for calls, answer in zip(case["patterns"], case["answers"], strict=True):
            try:
                compiled(pattern_of(calls).definition())
            except ProgramError:
                assert answer == []
