"""Arithmetic of whole numbers without the kernel gives what the kernel gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.logical_types import (
    BigIntType,
    IntegerNumberType,
    IntType,
    LocalZonedTimestampType,
    RowType,
    SmallIntType,
    TimestampType,
    TinyIntType,
)
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.translation import program
from firesteel.relational.translation.wholes import whole
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel import statement as module
from firesteel.runtime.columns.kernel.statement import Statement

KINDS: list[IntegerNumberType] = [TinyIntType(), SmallIntType(), IntType(), BigIntType()]
ROW = RowType.of({f"c{kind.bits}": kind for kind in KINDS}, nullable=False)


def numbers(bits: int) -> st.SearchStrategy[int]:
    most = (1 << bits - 1) - 1
    return st.integers(-most - 1, most) | st.sampled_from([-most - 1, -1, 0, 1, most])


def literal(kind: IntegerNumberType, least: int = 1) -> st.SearchStrategy[Expression]:
    return st.integers(least, min((1 << kind.bits - 1) - 1, 9999)).map(
        lambda value: Literal(kind.copy(nullable=False), value)
    )


def widest(one: Expression, other: Expression) -> Any:
    return max(one.type, other.type, key=lambda kind: kind.bits)  # type: ignore[attr-defined]


def binary(function: str, one: Expression, other: Expression) -> Expression:
    kind = other.type if function == "%" else widest(one, other)
    return Call(kind.copy(nullable=True), function, (one, other))


columns = st.sampled_from([InputRef(kind, place) for place, kind in enumerate(KINDS)])
expressions = st.recursive(
    columns,
    lambda inner: (
        st.builds(binary, st.sampled_from("+-*"), inner, inner)
        | st.builds(binary, st.sampled_from("/%"), inner, st.sampled_from(KINDS).flatmap(literal))
        | inner.map(lambda one: Call(BigIntType(), "CAST", (one,)))
    ),
    max_leaves=4,
)
row = st.tuples(*(numbers(kind.bits) | st.none() for kind in KINDS)) | st.tuples(
    *(numbers(kind.bits) for kind in KINDS)
)


def rows_of(values: list[tuple[int | None, ...]]) -> ColumnBatch:
    schema = to_arrow_schema(ROW)
    arrays = [
        pa.array(column, kind) for column, kind in zip(zip(*values, strict=True), schema.types, strict=True)
    ]
    return ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=schema))


@given(st.lists(expressions, min_size=1, max_size=3), st.lists(row, min_size=1, max_size=4))
@settings(max_examples=150)
def test_the_kernel_gives_the_same(wanted: list[Expression], values: list[tuple[int | None, ...]]) -> None:
    made = program(ROW, wanted, [f"x{place}" for place in range(len(wanted))])
    statement, kernel = Statement(made, "calc"), Statement(made, "calc")
    kernel._wholes, kernel._hard = [None] * len(kernel._computed), kernel._computed
    batch = rows_of(values)
    try:
        assert statement.run(batch).rows.equals(kernel.run(batch).rows)
    finally:
        statement.close()
        kernel.close()


def test_times_of_milliseconds() -> None:
    n = InputRef(BigIntType(), 3)
    call = Call(LocalZonedTimestampType(3), "TO_TIMESTAMP_LTZ", (n, Literal(IntType(nullable=False), 3)))
    local = Call(TimestampType(3), "CAST", (call,))
    assert whole(local, "UTC") is not None
    assert whole(local, "Europe/Berlin") is None
    made = program(ROW, [call, local, n], ["a", "b", "n"])
    statement = Statement(made, "calc")
    for last in (1_999, 1 << 50):  # the second is beyond the year 9999
        found = statement.run(rows_of([(0, 0, 0, -1), (0, 0, 0, last)])).rows
        expected = [-1000, last * 1000 if last < 1 << 40 else None]
        assert found.column(0).cast(pa.int64()).to_pylist() == expected
        assert found.column(1).cast(pa.int64()).to_pylist() == expected
    statement.close()


def test_arithmetic_prepares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Query", None)
    n = InputRef(BigIntType(), 3)
    seven = Literal(IntType(nullable=False), 7)
    made = program(ROW, [binary("%", n, seven), seven], ["rest", "seven"])
    assert (
        Statement(made, "calc").run(rows_of([(0, 0, 0, 9)] * 2)).rows.to_pylist()
        == [{"rest": 2, "seven": 7}] * 2
    )
