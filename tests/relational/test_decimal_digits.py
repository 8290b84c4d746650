"""Arithmetic of decimals whose type has more digits than the kernel: native while the values fit, exact always."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from firesteel.common.logical_types import DecimalType, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import resolve
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement

LEFT, RIGHT = DecimalType(31, 7), DecimalType(16, 2)
ROW = RowType.of({"a": LEFT, "b": RIGHT}, nullable=False)
LARGE = Decimal(9) * 10**23


@pytest.mark.parametrize(
    ("sign", "a", "b", "result"),
    [
        ("*", Decimal("1.0000005"), Decimal("1.00"), Decimal("1.000001")),
        ("*", Decimal("-1.0000005"), Decimal("1.00"), Decimal("-1.000001")),
        ("*", LARGE, Decimal("10000.00"), LARGE * 10_000),
        ("*", LARGE, Decimal(10) ** 13, None),
        ("*", None, Decimal("1.00"), None),
    ],
    ids=["rounded up", "rounded down", "large", "too large", "NULL"],
)
def test_products_are_exact(sign: str, a: Decimal | None, b: Decimal, result: Decimal | None) -> None:
    computed = program(ROW, [resolve(sign, [InputRef(LEFT, 0), InputRef(RIGHT, 1)])], ["c"])
    (formula,) = computed.columns
    assert formula.careful is not None
    assert "decimal_times" not in formula.text
    rows = pa.RecordBatch.from_pylist(
        [{"a": a, "b": b}, {"a": Decimal(2), "b": Decimal(3)}], to_arrow_schema(ROW)
    )
    found = Statement(computed, "calc").run(ColumnBatch(rows)).rows.column(0)
    assert found.to_pylist() == [result, Decimal(6)]
