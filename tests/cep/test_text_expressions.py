"""What expressions in texts of patterns mean: three-valued logic, what is selected, types of events."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator

import cloudpickle
import pytest

from firesteel.cep import SimpleCondition
from firesteel.common import Row
from firesteel.common.errors import PatternTextError
from firesteel.functions.patterns.written import field
from tests.cep.texts import Thing, of_text

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


@pytest.mark.parametrize(
    "joined", [" or ".join(["x = 1"] * 1_000), "x in (1" + ", 1" * 1_000 + ")"], ids=["or", "in"]
)
def test_long_conditions(joined):
    condition = of_text(f"select * from every a = Event({joined})").pattern.get_condition()
    assert condition.filter({"x": 1})


@pytest.fixture
def usual_stack() -> Iterator[None]:
    """The depth that Python begins with; a job of many operators may have made it larger in this process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("usual_stack")
@pytest.mark.parametrize("nested", ["not " * 5_000 + "x", "1" + " + x" * 500], ids=["not", "plus"])
def test_conditions_that_are_nested_too_deeply_are_refused(nested):
    with pytest.raises(PatternTextError, match="requires an expression that is nested less deeply"):
        of_text(f"select * from every a = Event({nested} = 1)")
