"""OVER aggregates do what Flink's operators do row by row, whatever the input, its epochs and the parallelism."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    BigIntType,
    DoubleType,
    RowType,
    TimestampType,
    VarCharType,
)
from firesteel.common.logical_types.constructed import Field
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverAggregate, OverFrame
from firesteel.runtime.columns.over.operator import OverAggregateOperator
from firesteel.runtime.columns.over.ordering import in_order
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of, plain

BIGINT = BigIntType()

FUNCTIONS: dict[str, Callable[[list[int | None]], Any]] = {
    "COUNT": lambda values: len(values),
    "SUM": lambda values: sum(values) if values else None,
    "AVG": lambda values: int(sum(values) / len(values)) if values else None,
    "MIN": lambda values: min(values, default=None),
    "MAX": lambda values: max(values, default=None),
    "FIRST_VALUE": lambda values: values[0] if values else None,
    "LAST_VALUE": lambda values: values[-1] if values else None,
}
WHOLE: dict[str, Callable[[list[int | None]], Any]] = {
    "COUNT DISTINCT": lambda values: len({*values} - {None}),
    "SUM DISTINCT": lambda values: (
        sum(value for value in {*values} if value is not None) if {*values} - {None} else None
    ),
    "ARRAY_AGG": tuple,
}
"""Functions of the values of a frame with NULL among them."""
SUMS = ("COUNT", "SUM", "AVG")
CALLS = tuple(
    Aggregation(
        name.removesuffix(" DISTINCT"),
        (2,),
        (BIGINT,),
        ArrayType(BIGINT) if name == "ARRAY_AGG" else BIGINT,
        f"{name}(v)",
        distinct=name.endswith(" DISTINCT"),
    )
    for name in (*FUNCTIONS, *WHOLE)
)
FRAMES = [
    OverFrame(rows=True, lower=None),
    OverFrame(rows=False, lower=None),
    OverFrame(rows=True, lower=0),
    OverFrame(rows=True, lower=2),
    OverFrame(rows=False, lower=0),
    OverFrame(rows=False, lower=7),
]

times = st.integers(-3, 60)
row = st.tuples(st.sampled_from(["a", "b", None]), times, st.none() | st.integers(-5, 5))
step = st.lists(row, min_size=1, max_size=6) | times
epochs = st.lists(st.lists(step, max_size=5), min_size=1, max_size=5)


class Model:
    """Rows wait for the watermark; `out` has each row with the values of its frame.

    In a range of time a key has timers, as in Flink: of the rows, which come out with them, and of the end of the key.
    """

    def __init__(self, frame: OverFrame, names: Sequence[str] = tuple(FUNCTIONS)) -> None:
        self._frame = frame
        self._names = names
        self._watermark = MIN_WATERMARK
        self._waiting: dict[Any, list[tuple[int, int | None]]] = defaultdict(list)
        self.done: dict[Any, list[tuple[int, int | None]]] = defaultdict(list)
        self.out = Counter[tuple[Any, ...]]()
        self.late = 0
        self._last: dict[Any, int] = {}
        self._ends: dict[Any, int] = {}
        self._timers: dict[Any, set[int]] = defaultdict(set)

    def row(self, key: Any, time: int, value: int | None) -> None:
        lower = self._frame.lower
        if time <= (self._watermark if lower is None else self._last.get(key, 0)):
            self.late += 1
            return
        self._waiting[key].append((time, value))
        if self._frame.rows or lower is None:
            return
        if key not in self._ends or self._ends[key] < time + lower + 1:
            self._ends[key] = time + lower + lower // 2 + 1
            self._timers[key].add(self._ends[key])

    def advance(self, watermark: int) -> None:
        if watermark <= self._watermark:
            return
        self._watermark = watermark
        for key in [*self._waiting]:
            times = self._timers.pop(key, set()) | {time for time, _ in self._waiting[key]}
            self._timers[key] = {time for time in times if time > watermark}
            for time in sorted(times - self._timers[key]):
                self._pass(key, time)

    def _pass(self, key: Any, time: int) -> None:
        """Let a timer of a key go off."""
        if self._ends.get(key, time + 1) <= time:
            self._ends.pop(key)
            self._last.pop(key)
            self.done.pop(key)
            assert not [row for row in self._waiting[key] if row[0] <= time]
            return
        due = [row for row in self._waiting[key] if row[0] == time]
        self._waiting[key] = [row for row in self._waiting[key] if row[0] != time]
        self.done[key] += due
        for place in range(len(self.done[key]) - len(due), len(self.done[key])):
            self.emit(key, place)
        self._last[key] = time

    def emit(self, key: Any, place: int) -> None:
        rows, frame = self.done[key], self._frame
        time, value = rows[place]
        inside = range(place + 1) if frame.rows else [at for at, row in enumerate(rows) if row[0] <= time]
        if frame.lower is not None:
            inside = [
                at
                for at in inside
                if (at >= place - frame.lower if frame.rows else rows[at][0] >= time - frame.lower)
            ]
        values = [rows[at][1] for at in inside]
        some = [one for one in values if one is not None]
        results = (WHOLE[name](values) if name in WHOLE else FUNCTIONS[name](some) for name in self._names)
        self.out[key, time, value, *results] += 1


def over(frame: OverFrame, names: Sequence[str] = tuple(FUNCTIONS)) -> OverAggregate:
    calls = tuple(call for call in CALLS if call.shown.removesuffix("(v)") in names)
    fields = (Field(call.shown, call.type) for call in calls)
    output = RowType((*INPUT.fields, *fields), nullable=False)
    return OverAggregate(INPUT, output, (0,), 1, event_time=True, frame=frame, aggregations=calls)


def hashable(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    arrays = [tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in rows]
    return plain(arrays)


@pytest.mark.parametrize("names", [tuple(FUNCTIONS), tuple(WHOLE), SUMS], ids=["all", "whole", "sums"])
@pytest.mark.parametrize("frame", FRAMES, ids=str)
@given(epochs, st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=12)
def test_rows_have_the_results_of_their_frames(
    frame: OverFrame, names: tuple[str, ...], given: list[Any], parallelism: int, random: Any
) -> None:
    model = Model(frame, names)
    harness = Harness(lambda: OverAggregateOperator(over(frame, names)), (0,), parallelism)
    seen = Counter[tuple[Any, ...]]()
    for steps in given:
        batches: list[Any] = []
        for one in steps:
            if isinstance(one, int):
                model.advance(one)
                batches.append(one)
            else:
                for key, time, value in one:
                    model.row(key, time, value)
                batches.append(batch_of(one))
        if random.random() < 0.2:
            harness.epoch(*batches, lost=True)
        if random.random() < 0.2:
            harness.renew(random.randint(1, 3))
        seen += hashable(harness.rows(*batches))
        assert seen == model.out
    model.advance(MAX_WATERMARK)
    seen += hashable(harness.rows(final=True))
    assert seen == model.out
    assert harness.late == model.late


def results(frame: OverFrame, *calls: Aggregation, given: list[Any], event_time: bool = True) -> list[Any]:
    fields = tuple(Field(f"r{order}", call.type) for order, call in enumerate(calls))
    output = RowType((*INPUT.fields, *fields), nullable=False)
    what = OverAggregate(INPUT, output, (0,), 1, event_time=event_time, frame=frame, aggregations=calls)
    harness = Harness(lambda: OverAggregateOperator(what))
    found = []
    for rows in given:
        found += harness.rows(batch_of(rows), rows[-1][1] - 5)
    found += harness.rows(final=True)
    return [row[3:] for row in sorted(found, key=lambda row: (row[1], row[2]))]


@given(st.lists(st.tuples(st.integers(0, 3), times, st.integers(0, 2)), max_size=20))
def test_the_order_of_rows_is_that_of_a_sort_by_three_columns(rows: list[tuple[int, int, int]]) -> None:
    codes, at, since = (np.array([row[place] for row in rows], np.int64) for place in range(3))
    arrivals = (since << 32) + np.arange(len(rows))
    assert in_order(codes, at, arrivals).tolist() == np.lexsort((arrivals, at, codes)).tolist()


RANGE, ROWS = OverFrame(rows=False, lower=None), OverFrame(rows=True, lower=None)
GIVEN = [[("a", 1, 1), ("a", 1, 2), ("b", 2, 5)], [("a", 3, None), ("a", 12, 4), ("b", 30, 9)]]


def test_row_number_counts_rows_and_rank_counts_those_of_the_time_too() -> None:
    calls = [Aggregation(name, (), (), BIGINT, name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")]
    assert results(ROWS, calls[0], given=GIVEN) == [(1, 1), (2, 2), (None, 3), (4, 4), (5, 1), (9, 2)]
    assert results(RANGE, *calls[1:], given=GIVEN) == [
        (1, 2, 2), (2, 2, 2), (None, 3, 3), (4, 4, 4), (5, 1, 1), (9, 2, 2)
    ]  # fmt: skip


def test_lag_looks_back_from_the_last_row_of_the_time() -> None:
    total = Aggregation("SUM", (2,), (BIGINT,), BIGINT, "SUM(v)")
    lag = Aggregation("LAG", (2,), (BIGINT,), BIGINT, "LAG(v)")
    assert results(RANGE, total, lag, given=GIVEN) == [
        (1, 3, 1), (2, 3, 1), (None, 3, 2), (4, 7, None), (5, 5, None), (9, 14, 5)
    ]  # fmt: skip


def test_sums_of_doubles_are_added_in_order_and_not_spoiled_by_others() -> None:
    double = DoubleType()
    row = RowType(
        (Field("k", VarCharType(9)), Field("at", TimestampType(3)), Field("v", double)), nullable=False
    )
    output = RowType((*row.fields, Field("total", double)), nullable=False)
    given = [
        ("a", 1, 0.1),
        ("a", 2, 0.2),
        ("a", 3, 0.3),
        ("b", 1, float("inf")),
        ("c", 1, 1e300),
        ("d", 2, 1.0),
    ]
    for lower, expected in [(None, 0.1 + 0.2 + 0.3), (1, 0.2 + 0.3)]:
        frame = OverFrame(rows=True, lower=lower)
        calls = (Aggregation("SUM", (2,), (double,), double, "SUM(v)"),)
        what = OverAggregate(row, output, (0,), 1, event_time=True, frame=frame, aggregations=calls)
        batch = batch_of([(key, time, None) for key, time, _ in given])
        batch = batch.set_column(2, "v", pa.array([value for _, _, value in given]))
        rows = Harness(lambda what=what: OverAggregateOperator(what)).rows(batch, final=True)
        totals = {(row[1], row[3]): row[4] for row in rows}
        assert totals["a", 0.3] == expected
        assert totals["d", 1.0] == 1.0


def test_in_processing_time_rows_come_out_at_once() -> None:
    count = Aggregation("COUNT", (), (), BIGINT, "COUNT(*)")
    output = RowType((*INPUT.fields, Field("n", BIGINT)), nullable=False)
    for frame, expected in [(RANGE, [1, 2, 3]), (ROWS, [1, 2, 3]), (OverFrame(rows=True, lower=1), [1, 2, 2]),
                            (OverFrame(rows=False, lower=10), [2, 2, 1])]:  # fmt: skip
        what = OverAggregate(INPUT, output, (0,), 1, event_time=False, frame=frame, aggregations=(count,))
        harness = Harness(lambda what=what: OverAggregateOperator(what))
        first = harness.rows(batch_of([("a", 9, 1), ("a", 5, 2)]), now=100)
        second = harness.rows(batch_of([("a", 1, 3)]), now=200)
        assert [row[4] for row in first + second] == expected


@pytest.mark.parametrize("name", ["LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"])
def test_functions_of_later_rows_are_refused(name: str) -> None:
    call = Aggregation(name, (2,), (BIGINT,), BIGINT, f"{name}(v)")
    with pytest.raises(UnsupportedError, match=rf"{name}\(v\).*not supported in streams"):
        results(ROWS, call, given=GIVEN)
