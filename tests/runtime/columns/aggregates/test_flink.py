"""Aggregates give what real Flink gives; `flink/ask.py` is the program that asked it."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.logical_types import Field, LogicalType, RowType, parse_type
from firesteel.common.logical_types.text import cast_to_string
from firesteel.common.types import RowKind
from tests.runtime.columns.aggregates.flink.cases import CASES, COLUMNS, HISTORY, Case
from tests.runtime.columns.aggregates.harness import Change, Query, aggregate, batch_of, call

ANSWERS = json.loads((Path(__file__).parent / "flink" / "answers.json").read_text(encoding="utf-8"))
NAMES = [*COLUMNS]
ROW = RowType(tuple(Field(name, parse_type(kind)) for name, kind in COLUMNS.items()))


def value_of(value: Any, kind: LogicalType) -> Any:
    """Return a value of the history as a column takes it."""
    if value is None:
        return None
    text = str(kind)
    if text.startswith("DECIMAL"):
        return Decimal(value)
    if text.startswith("TIMESTAMP"):
        return dt.datetime.fromisoformat(value)
    return dt.date.fromisoformat(value) if text == "DATE" else value


def rows(updates: bool) -> list[Change]:
    """Return the history as changes."""
    live: dict[int, tuple[Any, ...]] = {}
    changes: list[Change] = []
    for number, alive, values in HISTORY:
        if updates and number in live:
            changes.append((RowKind.DELETE.value, live.pop(number)))
        if alive:
            row = [value_of(value, field.type) for value, field in zip(values, ROW.fields, strict=False)]
            live[number] = tuple(row)
            changes.append((RowKind.INSERT.value, live[number]))
    return changes


def answer(case: Case, *, updates: bool, size: int, local: bool) -> dict[str, str | None]:
    """Return the final table, `size` changes an epoch."""
    places = [NAMES.index(name) for name in case.columns]
    condition = NAMES.index("c") if case.filter else None
    aggregation = call(ROW, case.function, *places, distinct=case.distinct, filter=condition)
    query = Query(aggregate(ROW, [0], aggregation, retracts=updates), 1, local=local)
    changes = rows(updates)
    table: dict[str, str | None] = {}
    for start in range(0, len(changes), size):
        for batch in query.epoch([batch_of(ROW, changes[start : start + size])]):
            texts = cast_to_string(batch.rows.column(1), aggregation.type).to_pylist()
            for kind, key, text in zip(
                batch.all_kinds(), batch.rows.column(0).to_pylist(), texts, strict=True
            ):
                if kind in (RowKind.DELETE.value, RowKind.UPDATE_BEFORE.value):
                    del table[json.dumps(key)]
                else:
                    table[json.dumps(key)] = text
    return table


def same(case: Case, one: str | None, two: str | None) -> bool:
    """Return whether two texts mean the same: floating point numbers nearly, and multisets in any order."""
    if one is None or two is None or one == two:
        return one == two
    if case.function == "COLLECT":
        return sorted(one[1:-1].split(", ")) == sorted(two[1:-1].split(", "))
    try:
        return float(one) == pytest.approx(float(two), rel=1e-6) and ("E" in one) == ("E" in two)
    except ValueError:
        return False


DIFFERENT = {("AVG(DISTINCT i)", False): "Flink lets the sum overflow as an INT here, but not in AVG(i)"}
"""Cases, and whether rows change, in which we differ on purpose, with the reason."""


def unstable(case: Case, updates: bool) -> bool:
    """Return whether a result is noise, in Flink, too: huge numbers have been taken back from a variance."""
    return updates and case.function[:3] in ("VAR", "STD") and case.columns[0] in ("n", "i", "d", "w")


@pytest.mark.parametrize("updates", [False, True], ids=["inserts", "updates"])
@pytest.mark.parametrize("case", CASES, ids=[case.sql for case in CASES])
def test_the_table_is_that_of_flink(case: Case, updates: bool) -> None:
    expected = ANSWERS["rows that change" if updates else "rows that come"][case.sql]
    if isinstance(expected, str):
        pytest.skip(f"Flink refuses it: {expected}")
    if (case.sql, updates) in DIFFERENT:
        pytest.xfail(DIFFERENT[case.sql, updates])
    if unstable(case, updates):
        pytest.skip("Flink's answer is the noise of what was taken back")
    for size, local in ((100, False), (1, False), (3, True)):
        found = answer(case, updates=updates, size=size, local=local)
        assert found.keys() == expected.keys()
        wrong = {
            key: (found[key], text) for key, text in expected.items() if not same(case, found[key], text)
        }
        assert not wrong
