"""What a pattern is made of, and what is refused, at the line where it is said."""

from __future__ import annotations

import pytest

from firesteel.cep import (
    CEP,
    AfterMatchSkipStrategy,
    ConsumingStrategy,
    GroupPattern,
    Pattern,
    PatternProcessFunction,
    QuantifierProperty,
    WithinType,
)
from firesteel.common import Duration
from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.datastream import OutputTag, StreamExecutionEnvironment

TEN = Duration.of_seconds(10)


def a():
    return Pattern.begin("a").where(lambda event: event == "a")


def test_steps_know_what_was_said_of_them():
    skip = AfterMatchSkipStrategy.skip_to_next()
    pattern = Pattern.begin("a", skip).followed_by_any("b").times(2, 3, TEN).greedy().within(TEN)
    assert pattern.get_name() == "b"
    assert pattern.get_previous().get_name() == "a"
    assert pattern.get_quantifier().get_consuming_strategy() is ConsumingStrategy.SKIP_TILL_ANY
    assert pattern.get_quantifier().has_property(QuantifierProperty.GREEDY)
    assert (pattern.get_times().least, pattern.get_times().most, pattern.get_times().within) == (2, 3, 10_000)
    assert pattern.get_window_size() == TEN
    assert pattern.get_window_size(WithinType.PREVIOUS_AND_CURRENT) is None
    assert pattern.get_after_match_skip_strategy() is skip
    assert pattern.get_condition() is None
    assert pattern.get_until_condition() is None
    assert repr(pattern) == "Pattern(next a followed_by_any b)"


def test_a_pattern_can_be_a_group():
    inner = a().next("b")
    group = Pattern.begin("start").followed_by(inner).times(2)
    assert isinstance(group, GroupPattern)
    assert group.get_raw_pattern() is inner
    assert repr(group) == "Pattern(next start followed_by (next a next b))"


def test_what_is_said_later_of_a_group_counts():
    inner = a()
    group = Pattern.begin(inner)
    inner.one_or_more()
    assert group.definition().steps[0].group[0].quantifier.looping


def test_a_definition_does_not_change():
    pattern = a()
    definition = pattern.definition()
    pattern.one_or_more()
    assert not definition.steps[0].quantifier.looping


REFUSED = {
    "a step without a name": (lambda: Pattern.begin(""), "begin", "requires the name of a step"),
    "a skip strategy that is a text": (
        lambda: Pattern.begin("a", "skip"),
        "begin",
        "requires an AfterMatchSkip",
    ),
    "a condition that is none": (lambda: a().where(5), "where", "requires a condition"),
    "two conditions to stop": (
        lambda: a().one_or_more().until(str.isdigit).until(str.isdigit),
        "until",
        "can be called once",
    ),
    "a stop without a loop": (
        lambda: a().times(2).until(str.isdigit),
        "until",
        "may occur any number of times",
    ),
    "a time that is a number": (lambda: a().within(10), "within", "requires a Duration"),
    "two quantifiers": (lambda: a().times(2).one_or_more(), "one_or_more", "without a quantifier"),
    "no times": (lambda: a().times(0), "times", "above 0"),
    "fewer at most than at least": (lambda: a().times(3, 2), "times", "at least the least"),
    "greed for one event": (lambda: a().greedy(), "greedy", "may occur several times"),
    "greed and combinations": (
        lambda: a().one_or_more().allow_combinations().greedy(),
        "greedy",
        "without allow_combinations",
    ),
    "greed of a group": (
        lambda: Pattern.begin(a()).one_or_more().greedy(),
        "greedy",
        "requires a single step",
    ),
    "combinations that are consecutive": (
        lambda: a().one_or_more().consecutive().allow_combinations(),
        "allow_combinations",
        "either",
    ),
    "one consecutive event": (lambda: a().consecutive(), "consecutive", "may occur several times"),
    "twice optional": (lambda: a().optional().optional(), "optional", "can be called once"),
    "optional after greedy": (
        lambda: a().one_or_more().greedy().next("b").optional(),
        "optional",
        "requires a step before it that is not greedy",
    ),
    "an optional absence": (lambda: a().not_next("b").optional(), "optional", "not negated"),
    "a repeated absence": (lambda: a().not_followed_by("b").times(2), "times", "not negated"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_means_nothing_is_refused_at_its_line(what):
    define, call, requirement = REFUSED[what]
    with pytest.raises(ProgramError, match=requirement) as raised:
        define()
    assert raised.value.who.startswith(f"{call} (")
    assert "test_pattern.py" in raised.value.who


UNSUPPORTED = {
    "an absence after an optional step": (lambda: a().optional().not_next("b"), "not optional"),
    "the absence of a group": (lambda: a().not_followed_by(a()), "cannot be required to be absent"),
    "a condition of a group": (lambda: Pattern.begin(a()).where(str.isdigit), "requires a single step"),
}


@pytest.mark.parametrize("what", UNSUPPORTED)
def test_what_flink_does_not_support_is_not_supported(what):
    define, requirement = UNSUPPORTED[what]
    with pytest.raises(UnsupportedError, match=requirement):
        define()


WHOLE = {
    "two steps of one name": (lambda: a().next("a"), "a name of its own"),
    "a skip to no step": (
        lambda: Pattern.begin("a", AfterMatchSkipStrategy.skip_to_first("b")),
        "the step that its AfterMatchSkipStrategy names",
    ),
    "an absence without an end": (lambda: a().not_followed_by("b"), "requires a time within which"),
    "a longer time between two events": (
        lambda: a().next("b").within(TEN).within(Duration.of_seconds(11), WithinType.PREVIOUS_AND_CURRENT),
        "at most the time of the whole match",
    ),
    "an absence at the end of a group": (
        lambda: a().next(Pattern.begin("b").not_followed_by("c")).next("d"),
        "requires a step after not_followed_by in its group",
    ),
    "a loop of nothing": (
        lambda: a().next(Pattern.begin("b").optional()).one_or_more(),
        "requires a group that repeats to take at least one event",
    ),
}


def stream():
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.from_collection(["a", "b"]).key_by(str)


@pytest.mark.parametrize("what", WHOLE)
def test_patterns_that_mean_nothing_are_refused_where_they_are_used(what):
    define, requirement = WHOLE[what]
    with pytest.raises(ProgramError, match=requirement) as raised:
        CEP.pattern(stream(), define()).select(len)
    assert raised.value.who.startswith("select (")
    assert "test_pattern.py" in raised.value.who


MISUSED = {
    "no stream": lambda: CEP.pattern([1], a()),
    "no pattern": lambda: CEP.pattern(stream(), "a"),
    "no comparator": lambda: CEP.pattern(stream(), a(), 5),
    "no tag for late events": lambda: CEP.pattern(stream(), a()).side_output_late_data("late"),
    "no function of matches": lambda: CEP.pattern(stream(), a()).process(len),
    "two functions": lambda: CEP.pattern(stream(), a()).select(len, len),
    "no tag for partial matches": lambda: CEP.pattern(stream(), a()).flat_select("late", len, len),
    "no function": lambda: CEP.pattern(stream(), a()).select(OutputTag("late"), max, 5),
}


@pytest.mark.parametrize("what", MISUSED)
def test_misuse_is_refused(what):
    with pytest.raises(ProgramError, match="requires"):
        MISUSED[what]()


def test_operators_have_flinks_names():
    class Pass(PatternProcessFunction):
        def process_match(self, match, ctx):
            yield match

    keyed = stream()
    assert CEP.pattern(keyed, a()).process(Pass()).get_name() == "CepOperator"
    plain = keyed._origin
    assert CEP.pattern(plain, a()).process(Pass()).get_name() == "GlobalCepOperator"


def test_patterns_whose_state_only_grows_are_warned_of(caplog):
    def warnings_of(pattern):
        caplog.clear()
        CEP.pattern(stream(), pattern).select(len)
        return [record.getMessage() for record in caplog.records]

    (warning,) = warnings_of(a().followed_by("b").one_or_more())
    assert warning.startswith("select (")
    assert "the step 'b' may take events without an end" in warning
    (warning,) = warnings_of(a().followed_by(Pattern.begin("b").next("c")).one_or_more())
    assert "a group may take events" in warning
    assert warnings_of(a().followed_by("b").one_or_more().within(TEN)) == []
    assert warnings_of(a().followed_by("b").one_or_more().until(str.isdigit)) == []
    assert warnings_of(a().followed_by("b").one_or_more().consecutive()) == []
    assert warnings_of(a().followed_by("b")) == []
    (warning,) = warnings_of(a().one_or_more().consecutive().next("b"))
    assert "the step 'a' begins the pattern" in warning
    assert "each begins one more partial match" in warning
    assert warnings_of(a().one_or_more().consecutive().within(TEN)) == []
    assert warnings_of(a().times(1, 3).consecutive().next("b")) == []
