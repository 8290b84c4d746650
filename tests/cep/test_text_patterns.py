"""A pattern that is written as a text finds what the same pattern finds that is made with methods."""

from __future__ import annotations

import pickle
import re
from contextlib import suppress

import cloudpickle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.cep import CEP, AfterMatchSkipStrategy, Pattern, SimpleCondition, WithinType
from firesteel.cep.text.building import Setting, built
from firesteel.cep.text.faults import Faults
from firesteel.cep.text.parsing import parsed
from firesteel.common import Row, Types
from firesteel.common.errors import PatternTextError, ProgramError
from firesteel.common.places import Source
from firesteel.common.time import Duration
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.patterns.written import field
from tests.runtime.patterns.calls import found_with


def of_text(text, parameters=None, kind="f1", types=None):
    faults = Faults(Source(text), "the text")
    return built(parsed(faults), Setting(parameters or {}, types or {}, kind), faults)


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


NULLS = {
    "n = null": [],
    "not n = null": [],
    "n <> 1": [2],
    "not n = 1": [2],
    "n is null": ["none", "missing"],
    "n is not null": [1, 2],
    "n = 1 or n is null": [1, "none", "missing"],
    "not (n = 1 and n < 5)": [2],
    "not (n = 2 or m = 1)": [1],
    "n in (1, 3)": [1],
    "n not in (1, 3)": [2],
    "n in (1, null)": [1],
    "n not in (1, null)": [],
    "n between 1 and 1": [1],
    "n not between 1 and 1": [2],
    "n + 1 = 2": [1],
    "-n < -1": [2],
    "not n + m > 0": [],
    "coalesce(n, 7) = 7": ["none", "missing"],
    "abs(n - 2) = 1": [1],
    "id like 'n%e'": ["none"],
    "id not like '_o%'": [1, 2, "missing"],
    "(n = 1) is null": ["none", "missing"],
    "upper(id) || '!' = 'NONE!'": ["none"],
    "n / 2 = 0.5 or n % 2 = 0 and n * 2 = 4": [1, 2],
    "true and (id = 'none' or false)": ["none"],
    "flag": [1],
    "not flag": [2],
    "inner.x = 5": [1],
    "e = e and n >= 2": [2],
    "n = :two": [2],
    "n in (:two, 1.0)": [1, 2],
}


class Thing:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@pytest.mark.parametrize("condition", NULLS)
@pytest.mark.parametrize("make", [dict, Row, Thing], ids=["dicts", "rows", "objects"])
def test_comparisons_with_null_are_unknown(condition, make):
    parameters = {"two": 2} if ":two" in condition else {}
    written = of_text(f"select * from every e = Event({condition})", parameters).pattern.get_condition()
    events = [
        make(id="1", n=1, m=0, flag=True, inner=make(x=5)),
        make(id="2", n=2, m=None, flag=False, inner=None),
        make(id="none", n=None, m=1, flag=None, inner=make(x=None)),
    ]
    if make is dict:
        events.append({"id": "missing"})
    shown = {"1": 1, "2": 2}
    wanted = [name for name in NULLS[condition] if make is dict or name != "missing"]
    for condition in (written, pickle.loads(cloudpickle.dumps(written))):
        answers = condition.filter_all(events)
        assert answers == [condition.filter(event) for event in events]
        ids = [field(event, "id") for event, fits in zip(events, answers, strict=True) if fits]
        assert [shown.get(name, name) for name in ids] == wanted


SELECTED = {
    "*": {"x": {"n": 1, "k": "a"}, "y": [{"n": 4, "k": "b"}, {"n": 2, "k": "b"}]},
    "x.n, y.n as last": {"n": 1, "last": 2},
    "first(y.n) as f, last(y.n, 1) as l, first(y.n, 5) as none": {"f": 4, "l": 4, "none": None},
    "count(y) as c, sum(y.n) as s, avg(y.n) as a, min(y.n) as l, max(y.n) as h": {
        "c": 2, "s": 6, "a": 3.0, "l": 2, "h": 4
    },
    "list(y.n) as all_of_them, y as events": {
        "all_of_them": [4, 2], "events": [{"n": 4, "k": "b"}, {"n": 2, "k": "b"}]
    },
    "x.n < y.n as less, x.m as nothing, count(z) as zs": {"less": True, "nothing": None, "zs": 0},
    "x.n + :more as `n more`": {"n more": 8},
}  # fmt: skip


@pytest.mark.parametrize("selection", SELECTED)
def test_the_selected_rows(selection):
    text = f"select {selection} from every x = Event -> y = Event+ -> z = Event?"
    text = text.replace(" -> z = Event?", "") if selection == "*" else text
    select = of_text(text, {"more": 7} if ":more" in selection else {}).select
    match = {"x": [{"n": 1, "k": "a"}], "y": [{"n": 4, "k": "b"}, {"n": 2, "k": "b"}]}
    row = pickle.loads(cloudpickle.dumps(select)).select(match)
    assert row == Row(**SELECTED[selection])


def test_types_are_classes_or_a_field_that_tells_the_kind():
    class Order(Thing):
        pass

    class Refund(Order):
        pass

    by_class = of_text("select * from every e = Order(n > 1)", types={"Order": Order}).pattern.get_condition()
    events = [Order(n=2), Refund(n=2), Order(n=1), Thing(n=2), "text"]
    assert [*by_class.filter_all(events)] == [True, True, False, False, False]
    by_kind = of_text("select * from every e = Order(n > 1)", kind="type").pattern.get_condition()
    events = [{"type": "Order", "n": 2}, {"type": "Refund", "n": 2}, {"n": 2}]
    assert [*by_kind.filter_all(events)] == [True, False, False]


def test_conditions_of_the_event_alone_are_simple():
    pattern = of_text("select * from every e = a(f2 > 1 and f0 < 5) where e.f3 > 2").pattern
    assert isinstance(pattern.get_condition(), SimpleCondition)


def test_a_stream_gives_rows():
    env = StreamExecutionEnvironment.get_execution_environment()
    text = """
        select low.price, high.price - low.price as fall   -- the fall
        from every high = Event(price > :limit) -> low = Event(price < high.price * 0.5)
        within 1 minute 30 seconds
        partition by shop
        after match skip past last event
    """
    prices = [("tea", 120), ("cup", 200), ("tea", 70), ("cup", 150), ("tea", 50), ("cup", 20)]
    events = env.from_collection([{"shop": shop, "price": price} for shop, price in prices])
    found = CEP.pattern_text(events, text, parameters={"limit": 100}).in_processing_time().rows()
    assert sorted(row["fall"] for row in found.execute_and_collect()) == [70, 180]


def test_a_file_is_read_and_named_in_errors(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    path = tmp_path / "drops.pattern"
    path.write_text("select *\nfrom every a = Event(b.x = 1)")
    rows = env.from_collection([Row(1)], Types.ROW_NAMED(["id"], [Types.INT()]))
    with pytest.raises(
        PatternTextError, match=r"test_text_patterns.py:\d+\), .*drops.pattern, line 2, column 22"
    ):
        CEP.pattern_file(rows, path)
    with pytest.raises(ProgramError, match="requires a file with the text of a pattern"):
        CEP.pattern_file(rows, tmp_path / "none")


FAULTS = {
    "": ("1, 1", "requires select; got the end of the text"),
    "select * from every": ("1, 20", "requires"),
    "select a.x from a = Event": ("1, 17", "requires every; got 'a'\n"),
    "select *\nfrom every a = Event(x >)": ("2, 25", "requires a name, a value or an expression; got ')'"),
    "select *\nfrom every a = Event(x = 'y)": ("2, 26", "got a string without an end"),
    "select * from every a = Event within 3 weeks": ("1, 40", "requires a unit of time; got 'weeks'"),
    "select * from every a = Event within 0.5 ms": ("1, 38", "requires whole milliseconds; got 0.5 ms"),
    "select * from every a = Event -> any not b = c": ("1, 31", "requires either any or not; got both"),
    "select * from every a = Event -> a = Event": ("1, 34", "requires a name of its own for each step"),
    "select * from every a = Other": ("1, 25", "requires a type of events; got 'Other'"),
    "select * from every a = Event(b.x = 1) -> b = Event": ("1, 31", "requires a step that has events by then"),
    "select * from every a = Event -> not b = Event": ("1, 21", "requires a time within which"),
    "select * from every a = Event -> not (b = Event) -> c = Event": ("1, 38", "requires a single step after not"),
    "select * from every a = Event+{2}": ("1, 31", "requires one quantifier"),
    "select * from every a = Event greedy": ("1, 31", "requires a step that may occur several times"),
    "select * from every a = Event greedy greedy": ("1, 31", "requires each word once"),
    "select * from every a = Event{3,2}": ("1, 30", "requires"),
    "select * from every a = Event until (x = 1)": ("1, 31", "requires a step that may occur any number of times"),
    "select * from every a = Event at most 3 s later": ("1, 31", "requires a step with one event"),
    "select * from every a = Event at most 3 s apart": ("1, 31", "requires a step that may occur several times"),
    "select * from every a = Event where x > 1": ("1, 37", "requires a step, or a field of one; got 'x'"),
    "select * from every a = Event where 1 = 1": ("1, 37", "requires a step, or a field of one; got a condition"),
    "select x from every a = Event": ("1, 8", "requires a step, or a field of one; got 'x'"),
    "select a.x + 1 from every a = Event": ("1, 8", "requires a name; got an expression"),
    "select a.x, b.x from every a = Event -> b = Event": ("1, 13", "requires a name of its own; got 'x'"),
    "select a.x, b.x as y from every a = Event -> not b = Event -> c = Event": ("1, 13", "requires a step that has"),
    "select summ(a.x) as y from every a = Event": ("1, 8", "requires a function; got 'summ'\n"),
    "select sum(a) as y from every a = Event": ("1, 8", "requires a field of a step: sum(a.field)"),
    "select abs(a.x, 1) as y from every a = Event": ("1, 8", "requires one argument for abs(...); got 2 arguments"),
    "select * from every a = Event(x > :limit)": ("1, 35", "requires a value for :limit"),
    "select * from every a = Event(x like y)": ("1, 38", "requires a string or a parameter after like"),
    "select * from every a = Event within 1 s within 2 s": ("1, 42", "requires each clause once"),
    "select * from every a = Event after match skip to last b": ("1, 21", "requires the step that"),
    "select * from every a = Event after match skip past first": ("1, 53", "requires last; got 'first'"),
    "select * from every a = Event; drop": ("1, 30", "got ';'"),
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTS)
def test_faults_have_a_line_and_a_column(text):
    place, message = FAULTS[text]
    with pytest.raises(PatternTextError) as raised:
        of_text(text, kind=None)
    error = raised.value
    assert f"{error.line}, {error.column}" == place
    assert message in f"{error}\n".replace("\n    ", "\n")


@pytest.mark.parametrize(
    "joined", [" or ".join(["x = 1"] * 1_000), "x in (1" + ", 1" * 1_000 + ")"], ids=["or", "in"]
)
def test_long_conditions(joined):
    condition = of_text(f"select * from every a = Event({joined})").pattern.get_condition()
    assert condition.filter({"x": 1})


@pytest.mark.parametrize("nested", ["not " * 5_000 + "x", "1" + " + x" * 500])
def test_conditions_that_are_nested_too_deeply_are_refused(nested):
    with pytest.raises(PatternTextError, match="requires an expression that is nested less deeply"):
        of_text(f"select * from every a = Event({nested} = 1)")


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "select from every a = Event ( ) -> next not any { } 2 , + * ? . until within 3 seconds and x :p",
    )
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=12), st.booleans())
def test_any_text_is_a_pattern_or_points_at_what_is_wrong(words, begun):
    text = " ".join(["select * from every"] * begun + words)
    with suppress(PatternTextError):
        of_text(text, kind=None)


def test_parameters_that_are_not_named_are_refused():
    with pytest.raises(
        PatternTextError, match="requires a text that names each parameter; got no :limt"
    ) as raised:
        of_text("select * from every a = Event(x > :limit)", {"limt": 3, "limit": 4})
    assert raised.value.hint == "did you mean limit?"


def test_fields_that_rows_do_not_have_are_refused():
    env = StreamExecutionEnvironment.get_execution_environment()
    rows = env.from_collection([Row(1)], Types.ROW_NAMED(["price"], [Types.INT()]))
    with pytest.raises(PatternTextError, match="requires a field of the events; got 'prise'") as raised:
        CEP.pattern_text(rows, "select a.price from every a = Event(prise > 1)")
    assert raised.value.hint == "did you mean price?"
    with pytest.raises(PatternTextError, match="column 45 requires a field of the events; got 'shop'"):
        CEP.pattern_text(rows, "select * from every a = Event partition by  shop")


def test_what_the_program_says_is_checked():
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    text = "select * from every a = Event"
    with pytest.raises(
        ProgramError, match=r"pattern_text \(.*\) requires a class for the type 'Order'; got 'x'"
    ):
        CEP.pattern_text(stream, text, types={"Order": "x"})
    with pytest.raises(ProgramError, match="requires the name of a field for kind; got 3"):
        CEP.pattern_text(stream, text, kind=3)
    with pytest.raises(ProgramError, match="requires a dict for parameters"):
        CEP.pattern_text(stream, text, parameters=["limit"])
