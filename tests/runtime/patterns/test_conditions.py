"""Conditions are asked once if they look at the event alone, and only if they matter."""

from __future__ import annotations

import pytest

from firesteel.cep import (
    IterativeCondition,
    Pattern,
    RichAndCondition,
    RichNotCondition,
    RichOrCondition,
    SimpleCondition,
    SubtypeCondition,
)
from firesteel.common.errors import ProgramError, UserFunctionError
from firesteel.functions.patterns.conditions import as_condition, simplified
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.runtime.patterns.matches import KeyMatches
from tests.runtime.patterns.calls import tables


def matcher_of(pattern):
    return Matcher(compiled(pattern.definition()), "pattern (job.py:1)")


def test_simple_conditions_are_asked_once_per_event():
    asked = []

    def is_b(event):
        asked.append(event)
        return event == "b"

    matcher, matches = matcher_of(Pattern.begin("a").followed_by_any("b").where(is_b)), KeyMatches(tables())
    for place, event in enumerate("xyzb"):
        matcher.advance(matches, event, place, 0)
    assert asked == ["y", "z", "b"], "of three partial matches with b, and of none with x"


def test_conditions_that_do_not_matter_are_not_asked():
    def never(event):
        raise AssertionError

    pattern = Pattern.begin("a").where(lambda event: event == "a").next("b").where(never)
    matcher, matches = matcher_of(pattern), KeyMatches(tables())
    assert matcher.advance(matches, "x", 0, 0) == ()


def test_composites_of_simple_conditions_are_simple():
    digit, even = SimpleCondition.of(str.isdigit), SimpleCondition.of(lambda event: event in "02468")
    both = simplified(RichAndCondition(digit, RichNotCondition(even)))
    either = simplified(RichOrCondition(SubtypeCondition(int), digit))
    assert isinstance(both, SimpleCondition)
    assert isinstance(either, SimpleCondition)
    assert [both.filter(event) for event in "78x"] == [True, False, False]
    assert [either.filter(event) for event in (7, "8", "x")] == [True, True, False]


def test_a_composite_of_a_program_is_asked_itself():
    class Loud(RichAndCondition):
        def filter(self, value, ctx):
            return super().filter(value.upper(), ctx)

    loud = Loud(SimpleCondition.of(str.isupper), SimpleCondition.of(str.isalpha))
    assert simplified(loud) is loud
    matcher, matches = matcher_of(Pattern.begin("a").where(loud)), KeyMatches(tables())
    assert [*matcher.advance(matches, "x", 0, 0), *matcher.advance(matches, "1", 1, 0)] == [{"a": ["x"]}]


def test_composites_with_iterative_conditions_get_the_context():
    class Again(IterativeCondition):
        def filter(self, value, ctx):
            return value in ctx.get_events_for_pattern("a")

    twice = RichAndCondition(SimpleCondition.of(str.isalpha), Again())
    pattern = Pattern.begin("a").followed_by("again").where(twice)
    matcher, matches = matcher_of(pattern), KeyMatches(tables())
    found = [
        match for place, event in enumerate("a1ba1") for match in matcher.advance(matches, event, place, 0)
    ]
    assert found == [{"a": ["a"], "again": ["a"]}]


def test_the_context_knows_the_times():
    times = []

    def note(event, ctx):
        times.append((ctx.timestamp(), ctx.current_processing_time()))
        return True

    matcher_of(Pattern.begin("a").where(note)).advance(KeyMatches(tables()), "x", 7, 1_000)
    assert times == [(7, 1_000)]


def test_a_condition_that_raises_is_named_with_its_event():
    pattern = Pattern.begin("a").followed_by("low").where(lambda event: event["price"] < 3)
    matcher, matches = matcher_of(pattern), KeyMatches(tables())
    matcher.advance(matches, {"price": 1}, 0, 0)
    with pytest.raises(
        UserFunctionError, match=r"pattern \(job.py:1\): the condition of 'low' failed"
    ) as raised:
        matcher.advance(matches, {"volume": 2}, 1, 0)
    assert "{'volume': 2}" in str(raised.value)


def test_many_events_are_asked_for_together():
    class Long(SimpleCondition):
        def filter(self, value, ctx=None):
            raise AssertionError

        def filter_all(self, values):
            return [len(value) > 2 for value in values]

    matcher = matcher_of(Pattern.begin("a").where(Long()))
    assert matcher.answers(["a", "abc"]) == [False, True]


@pytest.mark.parametrize("condition", [5, str, SimpleCondition])
def test_what_is_no_condition_is_refused(condition):
    with pytest.raises(ProgramError, match="requires a condition"):
        as_condition(condition, "where (job.py:1)")


def test_functions_that_are_always_true_are_refused():
    async def later(event):
        return False

    with pytest.raises(ProgramError, match="whose result is always true"):
        as_condition(later, "where (job.py:1)")
