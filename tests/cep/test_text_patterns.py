"""A pattern that is written as a text finds what the same pattern finds that is made with methods."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.cep import AfterMatchSkipStrategy, Pattern, WithinType
from firesteel.common.time import Duration
from tests.cep.texts import of_text
from tests.runtime.patterns.calls import found_with


def is_a(event):
    return event[1] == "a"


def is_b(event):
    return event[1] == "b"


def is_c(event):
    return event[1] == "c"


def first(ctx, name):
    return next(ctx.get_events_for_pattern(name))


def rises(event, ctx):
    numbers = [each[2] for each in ctx.get_events_for_pattern("y")]
    return event[1] == "b" and (not numbers or event[2] > numbers[-1])


def millis(number):
    return Duration.of_millis(number)


def a_then(call="followed_by", name="y", condition=is_b, skip=None):
    return getattr(Pattern.begin("x", skip).where(is_a), call)(name).where(condition)


def group():
    return Pattern.begin("x").where(is_a).followed_by("y").where(is_b)


PREVIOUS = WithinType.PREVIOUS_AND_CURRENT
SKIP = AfterMatchSkipStrategy

SAME = {
    "x = a": lambda: Pattern.begin("x").where(is_a),
    "x = Event": lambda: Pattern.begin("x"),
    "x = Event(f2 > 1)": lambda: Pattern.begin("x").where(lambda event: event[2] > 1),
    "x = a -> y = b": a_then,
    "x = a next y = b": lambda: a_then("next"),
    "x = a -> any y = b": lambda: a_then("followed_by_any"),
    "x = a -> not y = b -> z = c": lambda: a_then("not_followed_by").followed_by("z").where(is_c),
    "x = a next not y = b -> z = c": lambda: a_then("not_next").followed_by("z").where(is_c),
    "x = a -> not y = b within 5 ms": lambda: a_then("not_followed_by").within(millis(5)),
    "x = a -> y = b within 5 milliseconds": lambda: a_then().within(millis(5)),
    "x = a -> y = b at most 2 ms later": lambda: a_then().within(millis(2), PREVIOUS),
    "x = a{2} -> y = b": lambda: Pattern.begin("x").where(is_a).times(2).followed_by("y").where(is_b),
    "x = a -> y = b{1,3}": lambda: a_then().times(1, 3),
    "x = a -> y = b{0,2}": lambda: a_then().times(0, 2),
    "x = a -> y = b{2,} within 9 ms": lambda: a_then().times_or_more(2).within(millis(9)),
    "x = a -> y = b{0,}": lambda: a_then().one_or_more().optional(),
    "x = a -> y = b+": lambda: a_then().one_or_more(),
    "x = a -> y = b+ at most 2 ms apart": lambda: a_then().one_or_more(millis(2)),
    "x = a -> y = b*": lambda: a_then().one_or_more().optional(),
    "x = a -> y = b?": lambda: a_then().optional(),
    "x = a -> y = b{2,3} optional": lambda: a_then().times(2, 3).optional(),
    "x = a -> y = b{1,3} greedy -> z = c": lambda: a_then().times(1, 3).greedy().followed_by("z").where(is_c),
    "x = a -> y = b+ consecutive": lambda: a_then().one_or_more().consecutive(),
    "x = a -> y = b{2} allow combinations": lambda: a_then().times(2).allow_combinations(),
    "x = a -> y = b+ until (f1 = 'c')": lambda: a_then().one_or_more().until(is_c),
    "x = a -> y = b+ until (f2 > x.f2) -> z = c": lambda: (
        a_then()
        .one_or_more()
        .until(lambda event, ctx: event[2] > first(ctx, "x")[2])
        .followed_by("z")
        .where(is_c)
    ),
    "x = a -> y = Event(f2 = x.f2)": lambda: a_then(
        condition=lambda event, ctx: event[2] == first(ctx, "x")[2]
    ),
    "x = a -> y = b where y.f2 < x.f2 and x.f2 > 1": lambda: (
        Pattern.begin("x")
        .where(lambda event: event[1] == "a" and event[2] > 1)
        .followed_by("y")
        .where(lambda event, ctx: event[1] == "b" and event[2] < first(ctx, "x")[2])
    ),
    "x = a -> y = b(count(y) = 0 or f2 > last(y.f2))+": lambda: a_then(condition=rises).one_or_more(),
    "x = a+ -> y = b(f2 > max(x.f2))": lambda: (
        Pattern.begin("x")
        .where(is_a)
        .one_or_more()
        .followed_by("y")
        .where(
            lambda event, ctx: (
                event[1] == "b" and event[2] > max(each[2] for each in ctx.get_events_for_pattern("x"))
            )
        )
    ),
    "(x = a -> y = b){2}": lambda: Pattern.begin(group()).times(2),
    "w = c -> (x = a -> y = b)+": lambda: Pattern.begin("w").where(is_c).followed_by(group()).one_or_more(),
    "w = c next (x = a -> y = b)?": lambda: Pattern.begin("w").where(is_c).next(group()).optional(),
    "x = a -> y = b after match no skip": a_then,
    "x = a -> y = b after match skip to next event": lambda: a_then(skip=SKIP.skip_to_next()),
    "x = a -> y = b after match skip past last event": lambda: a_then(skip=SKIP.skip_past_last_event()),
    "x = a+ -> y = b after match skip to first y": lambda: (
        Pattern.begin("x", SKIP.skip_to_first("y")).where(is_a).one_or_more().followed_by("y").where(is_b)
    ),
    "x = a+ -> y = b after match skip to last x or fail": lambda: (
        Pattern.begin("x", SKIP.skip_to_last("x").throw_exception_on_miss())
        .where(is_a)
        .one_or_more()
        .followed_by("y")
        .where(is_b)
    ),
}
"""By the text after `every`, the same pattern."""

EVENTS = st.lists(
    st.tuples(st.sampled_from("aabbcd"), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=9
)
"""Letters, numbers, and the milliseconds since the event before."""


def timed(events):
    now, run = 10, []
    for letter, number, later in events:
        now += later
        run.append([letter, number, now])
    return run


@pytest.mark.parametrize("text", SAME)
def test_a_text_finds_what_the_methods_find(text):
    methods, written = SAME[text](), of_text(f"select * from every {text}").pattern

    @settings(max_examples=40, deadline=None)
    @given(EVENTS)
    def same(events):
        run = timed(events)
        assert found_with(written, run, settling=False) == found_with(methods, run, settling=False)

    same()
    many = timed([*zip("abacbbcaabbcbcabacc", [1, 2, 0, 3] * 5, [1, 0, 1, 2] * 4 + [3] * 3, strict=False)])
    assert found_with(written, many, settling=True), "a case that finds nothing shows nothing"
