"""What conditions and comparators of a program raise, or return against their word, names the step, event and line."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest

from firesteel.cep import CEP, Pattern, PatternProcessFunction, RichIterativeCondition
from firesteel.common.errors import FiresteelError, RecordError, SerializationError, UserFunctionError
from firesteel.datastream import StreamExecutionEnvironment
from tests.semantics.conftest import Run
from tests.semantics.test_patterns import EVENTS, KEYS, a_then_b, in_time, keyed, kind, pairs

WAYS = [
    Run("process", 7, 2),
    pytest.param(Run("spark", None, 2), marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
]


def event_time(pattern, comparator=None):
    return lambda env: CEP.pattern(keyed(env), pattern, comparator).select(str)


def too_short(event):
    return event[9] == "b"


def with_context(event, ctx):
    return event[9] == "b"


class Rich(RichIterativeCondition):
    def filter(self, value, ctx):
        return value[9] == "b"


RAISING = {
    "a function": too_short,
    "a lambda": lambda event: event[9],
    "with a context": with_context,
    "an object": Rich(),
    "an array, which is neither true nor false": lambda event: np.array([True, False]),
}


@pytest.mark.parametrize("place", ["first", "second"])
@pytest.mark.parametrize("what", RAISING)
def test_a_condition_that_raises_names_its_step_the_event_and_the_line(what, place):
    pattern = Pattern.begin("first").where(RAISING[what] if place == "first" else kind("a"))
    second = copy.copy(RAISING[what]) if place == "second" else RAISING[what]
    pattern = pattern.followed_by("second").where(second)
    with pytest.raises(UserFunctionError) as raised:
        Run("process", 7, 2)(event_time(pattern))
    said = str(raised.value)
    # Functions are wrapped for each step; an object is the same for both.
    steps = "'first' and 'second'" if (what, place) == ("an object", "first") else f"'{place}'"
    assert f"the condition of {steps} failed: the function raised" in said
    assert "test_pattern_errors.py" in said
    assert "the record ('k" in said
    if "array" not in what:
        assert "IndexError: tuple index out of range at " in said


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_until_that_raises_names_its_step(way):
    pattern = Pattern.begin("a").where(kind("a")).one_or_more().until(too_short)
    with pytest.raises(
        UserFunctionError, match=r"the condition of 'a' failed: .*IndexError.*test_pattern_errors"
    ):
        way(event_time(pattern))


TRUTHS = {
    "numpy": lambda event: np.bool_(event[1] == "b"),
    "None": lambda event: True if event[1] == "b" else None,
    "numbers": lambda event: "xb".find(event[1]) if event[1] == "b" else 0,
    "a string": lambda event: "b" if event[1] == "b" else "",
}


@pytest.mark.parametrize("what", TRUTHS)
@pytest.mark.parametrize("step", ["a", "b"])
def test_what_conditions_return_is_true_as_python_has_it(what, step):
    truth = TRUTHS[what]
    is_a = (lambda event: truth((0, "b" if event[1] == "a" else "x"))) if step == "a" else kind("a")
    pattern = Pattern.begin("a").where(is_a).followed_by("b").where(truth if step == "b" else kind("b"))
    pattern = pattern.within(a_then_b().get_window_size())

    def program(env):
        return CEP.pattern(keyed(env), pattern).select(lambda match: (match["a"][0], match["b"][0]))

    assert sorted(Run("process", 7, 2)(program)) == sorted(pairs()[0])


def test_a_comparator_that_raises_names_both_events():
    events = [("k", "a", 5), ("k", "b", 5)]

    def program(env):
        return CEP.pattern(keyed(env, events), a_then_b(), lambda one, two: one[9] - two[9]).select(str)

    with pytest.raises(
        UserFunctionError, match=r"the comparator failed: .*IndexError.*test_pattern_errors"
    ) as raised:
        Run("process", None, 1)(program)
    assert "('k', 'a', 5)" in str(raised.value)
    assert "('k', 'b', 5)" in str(raised.value)


def test_a_comparator_that_returns_no_number_is_refused():
    events = [("k", "a", 5), ("k", "b", 5)]

    def program(env):
        return CEP.pattern(keyed(env, events), a_then_b(), lambda one, two: None).select(str)

    with pytest.raises(RecordError, match=r"the comparator requires a number: .*; got None for"):
        Run("process", None, 1)(program)


def test_a_comparator_may_return_numbers_of_numpy():
    events = [("k", letter, time) for time in (5, 9) for letter in "ba"]

    def program(env):
        compare = lambda one, two: np.int64(ord(one[1]) - ord(two[1]))  # noqa: E731
        return CEP.pattern(keyed(env, events), a_then_b(), compare).select(lambda match: match["b"][0])

    assert sorted(Run("process", None, 1)(program)) == [("k", "b", 5), ("k", "b", 9)]


@pytest.mark.parametrize("what", ["a condition", "until", "an object", "a comparator"])
def test_what_cannot_be_sent_to_workers_is_refused_where_it_is_used(what):
    lock = threading.Lock()
    holds = lambda event: lock is None  # noqa: E731

    class Holding(RichIterativeCondition):
        def __init__(self):
            self.lock = lock

        def filter(self, value, ctx):
            return True

    stream = StreamExecutionEnvironment.get_execution_environment().from_collection(EVENTS)
    pattern = Pattern.begin("a").one_or_more().consecutive()
    expected = {"until": "the until condition of 'a'", "a comparator": "the comparator"}.get(
        what, "the condition of 'a'"
    )
    if what == "until":
        pattern.until(holds)
    elif what != "a comparator":
        pattern.where(holds if what == "a condition" else Holding())
    comparator = (lambda one, two: hash(lock)) if what == "a comparator" else None
    with pytest.raises(SerializationError, match="requires functions that can be shipped") as raised:
        CEP.pattern(stream, pattern, comparator).select(len)
    assert raised.value.who.startswith("select (")
    assert expected in raised.value.who
    assert "lock" in raised.value.got
    assert "open()" in raised.value.hint
    if what in ("a condition", "until"):
        assert "test_pattern_errors.py:" in raised.value.who.partition(expected)[2]


def test_a_condition_that_fails_to_open_names_the_pattern():
    class Opens(RichIterativeCondition):
        def open(self, runtime_context):
            raise OSError("no such model")

        def filter(self, value, ctx):
            return True

    with pytest.raises(FiresteelError, match="OSError: no such model"):
        Run("process", None, 1)(event_time(Pattern.begin("a").where(Opens())))


def test_in_processing_time_events_need_no_timestamp():
    class Times(PatternProcessFunction):
        def process_match(self, match, ctx):
            yield ctx.timestamp() == ctx.current_processing_time()

    def program(env):
        keys = env.from_collection(EVENTS).key_by(lambda event: event[0])
        return CEP.pattern(keys, Pattern.begin("a").where(kind("a"))).in_processing_time().process(Times())

    assert Run("process", 7, 2)(program) == [True] * sum(event[1] == "a" for event in EVENTS)
    assert sum(len(in_time(EVENTS, key)) for key in KEYS) == len(EVENTS)
