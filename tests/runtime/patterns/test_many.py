"""Each of many patterns finds what it finds alone, and what is over leaves nothing, for any key."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.cep import Pattern, PatternProcessFunction, PatternProcessor, TimedOutPartialMatchHandler
from firesteel.cep.text.building import Setting
from firesteel.cep.text.sharing import TextSource, shared_text
from firesteel.common import Duration
from firesteel.common.errors import PatternTextError, StateMismatchError
from firesteel.functions.patterns.processors import NamedPattern
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.patterns.many.dynamic import DynamicPatternsOperator
from firesteel.runtime.patterns.many.operator import ManyPatternsOperator
from tests.runtime.patterns.calls import pattern_of
from tests.runtime.patterns.test_brute_force import patterns as random_patterns
from tests.runtime.patterns.test_operator import PatternHarness, Show, answers_of
from tests.runtime.window_harness import LATE, STEP, Harness


class ShowAll(PatternProcessFunction, TimedOutPartialMatchHandler):
    """As Show, with the pattern."""

    def process_match(self, match, ctx):
        for found in Show().process_match(match, ctx):
            yield [ctx.pattern_id(), ctx.pattern_version(), found]

    def process_timed_out_match(self, match, ctx):
        names = [[name, [event[0] for event in events]] for name, events in match.items()]
        ctx.output(LATE, [ctx.pattern_id(), ctx.pattern_version(), ["t", ctx.timestamp(), names]])


class ManyHarness(Harness):
    """An operator of many patterns."""

    def __init__(self, made: dict[str, Pattern], **more: Any) -> None:
        named = {id_: NamedPattern(each.definition(), ShowAll()) for id_, each in made.items()}
        self._live(partial(ManyPatternsOperator, named, **{"late_tag": LATE, **more}))


class DynamicHarness(Harness):
    """An operator whose patterns come as definitions."""

    def __init__(self, **more: Any) -> None:
        function = ShowAll()
        source = TextSource(Setting({}, {}, "f1"), function)
        settings = {"late_tag": LATE, "rejected_tag": LATE, **more}
        self._live(partial(DynamicPatternsOperator, source, [function], **settings))

    def define(self, *definitions: Any) -> None:
        self.operator.process(RowBatch([*definitions], None), 1)


def found_of(harness: Harness) -> dict[str, list[Any]]:
    by_pattern: dict[str, list[Any]] = {}
    for id_, _, found in sorted([*harness.values(), *harness.late()], key=repr):
        by_pattern.setdefault(id_, []).append(found)
    return by_pattern


LIVES: list[dict[str, Any]] = [{}, {"epoch": 3}, {"epoch": 4, "restart": True}]


@given(
    st.lists(random_patterns(), min_size=2, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.lists(st.tuples(st.sampled_from("jk"), st.sampled_from("aabbcd"), st.integers(0, 4)), max_size=14),
    st.sampled_from(LIVES),
)
@settings(max_examples=150, deadline=None)
def test_each_finds_what_it_finds_alone(chosen, limited, events, life):
    made = {}
    for place, steps in enumerate(chosen):
        calls = [call for at, step in enumerate(steps) for call in step.calls(first=not at)]
        pattern = pattern_of(calls)
        made[f"p{place}"] = pattern.within(Duration.of_millis(9)) if limited[place] else pattern
    play, now = [], 0
    for number, (key, letter, step) in enumerate(events):
        now += step
        play += [(key, (number, letter, 0), now), (STEP, None, now - 3)]
    many = ManyHarness(made)
    many.play(play, **life)
    many.finish()
    expected = {}
    for id_, pattern in made.items():
        alone = PatternHarness(pattern.definition())
        alone.play(play)
        alone.finish()
        if answers := answers_of(alone):
            expected[id_] = answers
    assert found_of(many) == expected


def text(first, then="b", within=10):
    return f"select * from every x = Event(f1 = '{first}') -> y = Event(f1 = '{then}') within {within} ms"


def defined(id_, version, *arguments, at=None):
    return PatternProcessor(id_, version, text(*arguments), timestamp=at)


def show(pattern, version, time, *events):
    return [pattern, version, ["m", time, [["x", [events[0]]], ["y", [events[1]]]]]]


def event(number, letter, time, key="k"):
    return key, (number, letter), time


CONDITIONS = [
    "f2 > 3", "f2 >= 3", "3 > f2", "f2 <= 3.5", "f1 = 'a'", "'b' = f1", "f1 in ('a', 'b')", "f2 = 3 and f1 = 'a'",
    "x.f2 < 2", "f1 <> 'a'", "f2 between 2 and 3", "f2 > 1 or f1 = 'c'", "f2 is null", "f2 = 3.0", "f2 > :least",
]  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, 2, 3, 3.0, 4, None, True])), max_size=9)
)
@settings(max_examples=60, deadline=None)
def test_events_are_found_by_their_fields(pairs):
    setting = Setting({"least": 2}, {}, shared=True)
    texts = {place: f"select * from every x = Event({each})" for place, each in enumerate(CONDITIONS)}
    made = {f"p{place}": shared_text(each, setting, "the text").pattern for place, each in texts.items()}
    many = ManyHarness(made)
    events = [("k", (number, *pair), number) for number, pair in enumerate(pairs)]
    many.play(events)
    many.finish()
    found = found_of(many)
    for id_, pattern in made.items():
        alone = PatternHarness(pattern.definition())
        alone.play(events)
        alone.finish()
        assert found.get(id_, []) == answers_of(alone), id_


LATER = [
    "f2 > 3", "f2 <= 2", "f1 = 'a'", "f1 in ('b', 'c')", "f2 = 3 and f1 = 'a'", "f1 <> 'a'", "f2 = x.f2", "f2 is null",
]  # fmt: skip
"""Conditions of steps after the first: most demand something of a field, some do not, or look at other events."""


@given(
    st.lists(
        st.tuples(st.sampled_from(LATER), st.sampled_from(LATER), st.booleans()), min_size=1, max_size=5
    ),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([1, 2, 3, 3.0, 4, None])), max_size=14),
    st.sampled_from(LIVES),
)
@settings(max_examples=100, deadline=None)
def test_events_find_what_waits_for_them(chosen, pairs, life):
    setting = Setting({}, {}, shared=True)
    made = {}
    for place, (second, third, absent) in enumerate(chosen):
        between = f"not y = Event({second})" if absent else f"y = Event({second})"
        written = f"select * from every x = Event(f1 = 'a') -> {between} -> z = Event({third}) within 6 ms"
        made[f"p{place}"] = shared_text(written, setting, "the text").pattern
    play = []
    for number, pair in enumerate(pairs):
        play += [("k", (number, *pair), number), (STEP, None, number - 2)]
    many = ManyHarness(made)
    many.play(play, **life)
    many.finish()
    found = found_of(many)
    for id_, pattern in made.items():
        alone = PatternHarness(pattern.definition())
        alone.play(play)
        alone.finish()
        assert found.get(id_, []) == answers_of(alone), id_


@pytest.mark.parametrize("restart", [False, True])
def test_patterns_come_change_and_go(restart):
    harness = DynamicHarness()
    harness.define(defined("p", 1, "a"))
    harness.batch(event(0, "a", 1), event(1, "a", 1, "idle"))
    harness.watermark(1)
    harness.epoch(restart=restart)
    harness.define(defined("p", 2, "b", "c"), defined("q", 1, "a"))
    harness.batch(event(2, "b", 2), event(3, "c", 3), event(4, "a", 4))
    harness.watermark(4)
    harness.epoch(restart=restart)
    assert harness.values() == [show("p", 2, 3, 2, 3)]
    harness.define(PatternProcessor("p"))
    harness.batch(event(5, "b", 5), event(6, "c", 6))
    harness.finish()
    assert found_of(harness) == {"q": [["m", 5, [["x", [4]], ["y", [5]]]]]}


def size_after(definitions):
    """Return how many entries of 200 keys are in state after these definitions have followed."""
    harness = DynamicHarness()
    harness.define(defined("p", 1, "a"), defined("q", 1, "c"))
    harness.batch(*[event(key, "a", 1, f"key {key}") for key in range(200)])
    harness.watermark(1)
    harness.epoch(restart=True)
    before = len(harness.entries)
    harness.define(*definitions)
    harness.epoch(restart=True)
    assert before > 400
    return len(harness.entries)


def test_state_of_all_keys_goes_without_new_events():
    nothing = size_after([PatternProcessor("p"), PatternProcessor("q")])
    assert size_after([PatternProcessor("p")]) == nothing + 1
    assert size_after([defined("p", 2, "a")]) == nothing + 2
    assert nothing == 2  # how many patterns there have been, and how often that has changed


def test_a_time_makes_it_independent_of_when_a_definition_comes():
    events = [event(0, "a", 1), event(1, "b", 4), event(2, "a", 5), event(3, "b", 7), event(4, "b", 8)]
    found = []
    for early in (True, False):
        harness = DynamicHarness()
        harness.define(defined("p", 1, "a"))
        new = [defined("p", 2, "b", "b", at=5), PatternProcessor("p", 2, timestamp=8)]
        harness.define(*(new if early else []))
        harness.batch(*events[:2])
        harness.epoch(restart=True)
        harness.define(*([] if early else new))
        harness.batch(*events[2:])
        harness.watermark(20)
        found.append(found_of(harness))
        assert harness.leftovers() is not None
        assert len(harness.entries) <= 3
    assert found == [{"p": [["m", 4, [["x", [0]], ["y", [1]]]]]}] * 2


def test_what_is_replaced_does_not_time_out():
    harness = DynamicHarness()
    harness.define(defined("p", 1, "a"), defined("q", 1, "a"))
    harness.batch(event(0, "a", 1))
    harness.watermark(1)
    harness.define(PatternProcessor("p", 1))
    harness.finish()
    assert found_of(harness) == {"q": [["t", 11, [["x", [0]]]]]}


def test_definitions_that_are_wrong():
    harness = DynamicHarness()
    harness.define(
        defined("p", 2, "a"),
        defined("p", 2, "a"),  # the same again: nothing to say
        defined("p", 2, "b"),
        defined("p", 1, "a"),
        PatternProcessor("q"),
        {"id": "r", "version": 1, "pattern": "select *\nfrom x = Event"},
        {"id": "s", "version": 1, "pattern": "select * from every x = Event partition by f1"},
        {"id": "t", "pattern": text("a")},
        {"version": 1},
        7,
        PatternProcessor("u", 1, "select * from every x = Event(f1 = :a)", {"b": 1}),
    )
    harness.batch(event(0, "a", 1), event(1, "b", 2))
    harness.finish()
    rejected = harness.late()
    said = [(row.message.split(" requires ", 1)[1].split(";")[0], row.line, row.column) for row in rejected]
    assert said == [
        ("a version above 2, which is in use", None, None),
        ("a version above 2, which is in use", None, None),
        ("a pattern that is in use, to remove it", None, None),
        ("every", 2, 6),
        ("the keys that all patterns of the stream share", 1, 44),
        ("a version, a whole number", None, None),
        ("a definition with an id, a string", None, None),
        ("a definition of a pattern", None, None),
        ("a value for :a", 1, 36),
    ]
    assert harness.values() == [show("p", 2, 2, 0, 1)]


def test_strict_operators_fail():
    harness = DynamicHarness(strict=True)
    with pytest.raises(PatternTextError, match="pattern 'p' version 1, line 1, column 1 requires"):
        harness.define(PatternProcessor("p", 1, "nonsense"))


def letter(*letters):
    first, *others = letters
    pattern = Pattern.begin(first).where(lambda event: event[1] == first)
    for each in others:
        pattern = pattern.followed_by(each).where(lambda event, each=each: event[1] == each)
    return pattern


def continued(harness, made):
    named = {id_: NamedPattern(each.definition(), ShowAll()) for id_, each in made.items()}
    harness._recipe = partial(ManyPatternsOperator, named, late_tag=LATE)
    harness.epoch(restart=True)


def test_a_program_may_come_back_with_other_patterns():
    harness = ManyHarness({"p": letter("a", "b"), "q": letter("a", "c")})
    harness.batch(event(0, "a", 1))
    harness.watermark(1)
    continued(harness, {"q": letter("a", "c"), "r": letter("a", "c")})
    harness.epoch()
    entries = len(harness.entries)
    harness.batch(event(1, "b", 2), event(2, "c", 3))
    harness.finish()
    assert found_of(harness) == {"q": [["m", 3, [["a", [0]], ["c", [2]]]]]}
    assert len(harness.leftovers()) < entries


def test_a_pattern_with_other_steps_is_refused():
    harness = ManyHarness({"p": letter("a", "b")})
    with pytest.raises(StateMismatchError, match="pattern 'p' requires a pattern of the shape"):
        continued(harness, {"p": letter("a", "b", "c")})


def test_processing_time():
    harness = DynamicHarness(event_time=False)
    harness.time(100)
    harness.define(defined("p", 1, "a"), defined("q", 1, "a", at=105))
    harness.batch(event(0, "a", None))
    harness.epoch(restart=True)
    harness.time(105)
    harness.batch(event(1, "a", None))
    harness.time(111)
    harness.batch(event(2, "b", None))
    assert harness.late() == [["p", 1, ["t", 110, [["x", [0]]]]]]
    assert harness.values() == [show("p", 1, 111, 1, 2), show("q", 1, 111, 1, 2)]
