"""Windows over columns do what the model does, whatever the input, its epochs and the parallelism."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import BigIntType, RowType, TimestampType, VarCharType
from firesteel.common.logical_types.constructed import Field
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import WindowAggregate, WindowAssignment, WindowShape, WindowTable
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.windows.choosing import window_aggregate_operator, window_table_operator
from firesteel.runtime.operator import Operator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.model import RowSessions, Windows, aggregated, model_of, windows_of

BIGINT, TIME = BigIntType(), TimestampType(3)
INPUT = RowType((Field("k", VarCharType(9)), Field("at", TIME), Field("v", BIGINT)), nullable=False)
RESULT = ("k", "n", "total", "most", "window_start", "window_end")
OUTPUT = RowType(
    tuple(map(Field, RESULT, (VarCharType(9), BIGINT, BIGINT, BIGINT, TIME, TIME))), nullable=False
)
TABLE = RowType(
    (*INPUT.fields, Field("window_start", TIME), Field("window_end", TIME), Field("window_time", TIME)),
    nullable=False,
)
CALLS = (
    Aggregation("COUNT", (), (), BIGINT, "COUNT(*)"),
    Aggregation("SUM", (2,), (BIGINT,), BIGINT, "SUM(v)"),
    Aggregation("MAX", (2,), (BIGINT,), BIGINT, "MAX(v)"),
)
SHAPES = [
    WindowShape("tumble", 10, 10),
    WindowShape("tumble", 10, 10, offset=3),
    WindowShape("hop", 12, 4),
    WindowShape("hop", 12, 4, offset=-1),
    WindowShape("hop", 10, 4),
    WindowShape("hop", 3, 5),
    WindowShape("cumulate", 12, 4),
    WindowShape("cumulate", 12, 3, offset=2),
    WindowShape("session", 5, 5),
]

times = st.integers(-20, 60)
row = st.tuples(st.sampled_from(["a", "b", "c", None]), times, st.none() | st.integers(-5, 5))
step = st.lists(row, min_size=1, max_size=6) | times | st.none()
epochs = st.lists(st.lists(step, max_size=5), min_size=1, max_size=6)


def batch_of(rows: list[Any]) -> pa.RecordBatch:
    keys, at, values = zip(*rows, strict=True)
    stamps = pa.array(np.array(at) * 1000).view(pa.timestamp("us"))
    columns = [pa.array(keys, pa.string()), stamps, pa.array(values, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, names=["k", "at", "v"])


def millis(stamp: Any) -> int:
    return round(stamp.timestamp() * 1000)


def plain(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Return rows without their kind, times as milliseconds."""
    return Counter(
        tuple(
            int(np.datetime64(value, "ms").astype(int)) if hasattr(value, "year") else value
            for value in row[1:]
        )
        for row in rows
    )


def aggregate(shape: WindowShape, keys: tuple[int, ...] = (0,)) -> WindowAggregate:
    output = OUTPUT if keys else RowType(OUTPUT.fields[1:], nullable=False)
    return WindowAggregate(INPUT, output, keys, WindowAssignment(shape, time=1), CALLS, ("start", "end"))


DISTINCT = (*CALLS, Aggregation("COUNT", (2,), (BIGINT,), BIGINT, "COUNT(DISTINCT v)", distinct=True))


def operator_of(shape: WindowShape) -> Operator[Any]:
    return window_aggregate_operator(aggregate(shape))


def distinct_operator_of(shape: WindowShape) -> Operator[Any]:
    fields = (*OUTPUT.fields[:4], Field("different", BIGINT), *OUTPUT.fields[4:])
    output = RowType(fields, nullable=False)
    given = replace(aggregate(shape), aggregations=DISTINCT, output=output)
    return window_aggregate_operator(given)


def feed(model: Windows, steps: list[Any]) -> list[Any]:
    """Give the model the steps, and return them for the harness."""
    given: list[Any] = []
    for one in steps:
        if isinstance(one, list):
            for key, time, value in one:
                model.row(key, time, value)
            given.append(batch_of(one))
        else:
            if one is not None:
                model.advance(one)
            given.append(one)
    return given


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@given(epochs, st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_aggregates(shape: WindowShape, given: list[Any], parallelism: int, random: Any) -> None:
    model = model_of(shape)
    harness = Harness(lambda: operator_of(shape), (0,), parallelism)
    seen = Counter[tuple[Any, ...]]()
    for steps in given:
        batches = feed(model, steps)
        if random.random() < 0.2:
            harness.epoch(*batches, lost=True)
        if random.random() < 0.2:
            harness.renew(random.randint(1, 3))
        seen += plain(harness.rows(*batches))
        assert seen == aggregated(model.results)
    model.advance(MAX_WATERMARK)
    seen += plain(harness.rows(final=True))
    assert seen == aggregated(model.results)
    assert harness.late == model.late


@pytest.mark.parametrize("shape", SHAPES[::2], ids=str)
@given(epochs, st.integers(1, 2), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_aggregates_that_need_all_rows(
    shape: WindowShape, given: list[Any], parallelism: int, random: Any
) -> None:
    model = model_of(shape)
    harness = Harness(lambda: distinct_operator_of(shape), (0,), parallelism)
    seen = Counter[tuple[Any, ...]]()
    for steps in [*given, [MAX_WATERMARK]]:
        batches = feed(model, steps)
        if random.random() < 0.2:
            harness.renew(random.randint(1, 3))
        seen += plain(harness.rows(*batches))
        expected = Counter(
            (*row[:4], different, *row[4:])
            for result in model.results
            for row, different in [(next(iter(aggregated([result]))), len({*result[3]} - {None}))]
        )
        assert seen == expected


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_retracted_rows_do_not_count(shape: WindowShape) -> None:
    given = replace(aggregate(shape), retracts=True)
    rows = batch_of([("a", 1, 5), ("a", 2, 3), ("b", 1, 1), ("a", 1, 5), ("b", 1, 1)])
    kinds = np.array([0, 0, 0, 3, 3], np.int8)
    harness = Harness(lambda: window_aggregate_operator(given), (0,))
    seen = plain(harness.rows(ColumnBatch(rows, kinds), final=True))
    assert {row[:4] for row in seen} == {("a", 1, 3, 3)}
    assert {row[4:] for row in seen} <= {
        (start, end) for start, end in windows_of(shape, 2)
    } or shape.kind == "session"


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.kind != "session"], ids=str)
@given(st.lists(row, min_size=1, max_size=9))
def test_tables_have_each_row_once_for_each_of_its_windows(shape: WindowShape, given: list[Any]) -> None:
    table = WindowTable(INPUT, TABLE, WindowAssignment(shape, time=1))
    harness = Harness(lambda: window_table_operator(table))
    expected = Counter(
        (*one, start, end, end - 1) for one in given for start, end in windows_of(shape, one[1])
    )
    assert plain(harness.rows(batch_of(given))) == expected


@given(epochs, st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_rows_of_sessions(given: list[Any], parallelism: int, random: Any) -> None:
    shape = WindowShape("session", 5, 5)
    table = WindowTable(INPUT, TABLE, WindowAssignment(shape, time=1), (0,))
    model = RowSessions(shape)
    harness = Harness(lambda: window_table_operator(table), (0,), parallelism)
    seen = Counter[tuple[Any, ...]]()
    for steps in [*given, [MAX_WATERMARK]]:
        batches = feed(model, steps)
        if random.random() < 0.2:
            harness.renew(random.randint(1, 3))
        seen += plain(harness.rows(*batches))
        assert seen == model.rows()
    assert harness.late == model.late


def test_without_keys_all_rows_are_one_group() -> None:
    shape = WindowShape("hop", 12, 4)
    harness = Harness(lambda: window_aggregate_operator(aggregate(shape, ())))
    rows = harness.rows(batch_of([("a", 1, 1), ("b", 2, 5), ("b", 13, None)]), 14)
    assert plain(rows) == Counter({(2, 6, 5, -8, 4): 1, (2, 6, 5, -4, 8): 1, (2, 6, 5, 0, 12): 1})


def test_a_time_that_is_null_is_refused() -> None:
    harness = Harness(lambda: operator_of(SHAPES[0]))
    rows = pa.RecordBatch.from_arrays(
        [pa.array(["a"]), pa.array([None], pa.timestamp("us")), pa.array([1])], names=["k", "at", "v"]
    )
    with pytest.raises(ProgramError, match="requires that the time attribute is not NULL"):
        harness.epoch(rows)
