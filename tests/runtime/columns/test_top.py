"""The first rows of a table that changes, beside a list that is sorted again after each change."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType, parse_type
from firesteel.functions.columns.sorting import SortColumn, Top
from firesteel.runtime.columns import top as tops
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.top import TopOperator
from tests.runtime.columns.columnar import Harness

INSERT, DELETE = 0, 3
Row = tuple[str, int | None]
SCHEMA = pa.schema([("s", pa.string()), ("v", pa.int64())])


def row_type(text: str) -> RowType:
    parsed = parse_type(text)
    assert isinstance(parsed, RowType)
    return parsed


ROW = row_type("ROW<s STRING, v BIGINT> NOT NULL")
BY_VALUE = (SortColumn(1, False, True), SortColumn(0, True, True))


def batch(changes: list[tuple[int, Row]]) -> ColumnBatch:
    columns = zip(*(row for _, row in changes), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    kinds = np.array([kind for kind, _ in changes], np.int8)
    return ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA), kinds if kinds.any() else None)


def harness(order: tuple[SortColumn, ...], offset: int, fetch: int, *, retracts: bool) -> Harness:
    return Harness(partial(TopOperator, Top(ROW, order, offset, fetch, retracts)))


def by_value(row: Row) -> tuple[bool, int, str]:
    return row[1] is not None, -(row[1] or 0), row[0]


def applied(table: Counter[Row], sent: list[tuple[object, ...]]) -> None:
    for kind, *values in sent:
        row: Row = tuple(values)  # type: ignore[assignment]
        table[row] += 1 if kind == INSERT else -1
        assert table[row] >= 0


def test_rows_come_in_and_the_last_ones_go_out() -> None:
    run = harness(BY_VALUE, 0, 2, retracts=False)
    assert run.rows(batch([(INSERT, ("a", 1)), (INSERT, ("b", 3)), (INSERT, ("c", 2))])) == [
        (INSERT, "b", 3),
        (INSERT, "c", 2),
    ]
    run.renew()
    assert run.rows(batch([(INSERT, ("d", 2)), (INSERT, ("e", None))])) == [
        (DELETE, "c", 2),
        (INSERT, "e", None),
    ]
    assert run.rows(batch([(INSERT, ("z", 0))])) == []


def test_of_equal_rows_those_that_came_first_stay() -> None:
    run = harness((SortColumn(1, True, True),), 1, 2, retracts=False)
    rows: list[tuple[int, Row]] = [(INSERT, (name, 1)) for name in "abcd"]
    assert run.rows(batch(rows)) == [(INSERT, "b", 1), (INSERT, "c", 1)]
    assert run.rows(batch([(INSERT, ("e", 1))])) == []
    assert run.rows(batch([(INSERT, ("f", 0))])) == [(DELETE, "c", 1), (INSERT, "a", 1)]


def test_a_limit_over_changes_fills_up_with_the_next_rows() -> None:
    run = harness((), 0, 2, retracts=True)
    assert len(run.rows(batch([(INSERT, (name, 1)) for name in "abc"]))) == 2
    assert run.rows(batch([(DELETE, ("a", 1)), (INSERT, ("a", 2))])) == [(DELETE, "a", 1), (INSERT, "c", 1)]
    run.renew()
    assert run.rows(batch([(DELETE, ("b", 1))])) == [(DELETE, "b", 1), (INSERT, "a", 2)]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(("offset", "fetch"), [(0, 3), (2, 5), (0, 0), (0, 1000)])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_rows_are_those_of_the_whole_table(
    ordered: bool, offset: int, fetch: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tops, "_RESERVE", 4)
    chance = random.Random(seed)
    run = harness(BY_VALUE if ordered else (), offset, fetch, retracts=True)
    everything: list[Row] = []
    shown: Counter[Row] = Counter()
    for epoch in range(60):
        changes: list[tuple[int, Row]] = []
        for _ in range(chance.randrange(12)):
            if everything and chance.random() < (0.3 if epoch < 30 else 0.6):
                row = chance.choice(everything[:5] if chance.random() < 0.5 else everything)
                everything.remove(row)
                changes.append((DELETE, row))
            else:
                row = (chance.choice("abc"), chance.choice([None, 1, 2, 3, 4]))
                everything.append(row)
                changes.append((INSERT, row))
        applied(shown, run.rows(*([batch(changes)] if changes else [])))
        in_order = sorted(everything, key=by_value) if ordered else everything
        assert +shown == Counter(in_order[offset : offset + fetch])
        if epoch % 7 == 0:
            run.renew()


@pytest.mark.parametrize("seed", range(3))
def test_without_retractions_only_the_first_rows_are_kept(seed: int) -> None:
    chance = random.Random(seed)
    run = harness(BY_VALUE, 1, 4, retracts=False)
    everything: list[Row] = []
    shown: Counter[Row] = Counter()
    for _ in range(20):
        rows: list[Row] = [(chance.choice("abc"), chance.randrange(50)) for _ in range(chance.randrange(9))]
        everything += rows
        applied(shown, run.rows(*([batch([(INSERT, row) for row in rows])] if rows else [])))
        assert +shown == Counter(sorted(everything, key=by_value)[1:5])
    operator = run.subtasks[0].operator
    assert isinstance(operator, TopOperator)
    assert sum(part.num_rows for part in operator._rows.rows()) == 5


def test_arrays_have_no_order() -> None:
    row = row_type("ROW<a ARRAY<INT>> NOT NULL")
    run = Harness(partial(TopOperator, Top(row, (SortColumn(0, True, True),), 0, 1)))
    with pytest.raises(UnsupportedError, match="cannot sort by values of this type"):
        run.rows()
