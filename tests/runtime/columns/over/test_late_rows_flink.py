"""OVER with a range of time drops as late what real Flink drops (see flink/ask_late.py), and counts as it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firesteel.common.logical_types import BigIntType, RowType
from firesteel.common.logical_types.constructed import Field
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverAggregate, OverFrame
from firesteel.runtime.columns.over.operator import OverAggregateOperator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of

LINES = [
    json.loads(line) for line in (Path(__file__).parent / "flink" / "late.jsonl").read_text().splitlines()
]
BIGINT = BigIntType()
ROW = RowType((*INPUT.fields, Field("id", BIGINT)), nullable=False)
FUNCTIONS = ("COUNT", "SUM", "MAX")
ROWS = 400


def steps(line: dict[str, Any]) -> list[Any]:
    """Return each row with its number, and the watermark after it."""
    found: list[Any] = []
    for number, (key, time, value, watermark) in enumerate(line["rows"]):
        row = batch_of([(key, time, value)])
        found += [row.append_column("id", pa.array([number])), watermark]
    return found


def cases() -> list[Any]:
    """Return all answers in one epoch and in many, for both ways to compute them; most with --thorough only."""
    return [
        pytest.param(
            line,
            count,
            rows,
            id=f"{place}: {line['lower']} ms, {count} functions, {rows} rows an epoch",
            marks=[] if (rows, count) in ((ROWS, 2 + place % 2), (7, 2 + place)) else [pytest.mark.thorough],
        )
        for place, line in enumerate(LINES)
        for count in (2, 3)
        for rows in (1, 7, ROWS)
        if rows > 1 or count == 2
    ]


@pytest.mark.parametrize(("line", "count", "rows"), cases())
def test_late_rows_are_those_of_flink(line: dict[str, Any], count: int, rows: int) -> None:
    functions = FUNCTIONS[:count]
    calls = tuple(Aggregation(name, (2,), (BIGINT,), BIGINT, f"{name}(v)") for name in functions)
    output = RowType((*ROW.fields, *(Field(name, BIGINT) for name in functions)), nullable=False)
    over = OverAggregate(ROW, output, (0,), 1, True, OverFrame(False, line["lower"]), calls)
    harness = Harness(lambda: OverAggregateOperator(over), (0,), 1 if rows == 7 else 2)
    given = steps(line)
    found = []
    for start in range(0, len(given), 2 * rows):
        found += harness.rows(*given[start : start + 2 * rows])
        if rows == 7 and start % 5 == 0:
            harness.renew()
    found += harness.rows(final=True)
    assert {str(row[4]): list(row[5:]) for row in found} == {
        key: values[:count] for key, values in line["values"].items()
    }
    assert len(found) == len(line["values"])
    assert harness.late == len(line["rows"]) - len(line["values"])
