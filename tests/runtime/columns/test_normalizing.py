"""Changes by key become changes of a table, beside a dictionary that takes them one by one."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.logical_types import BigIntType, BooleanType, IntType, RowType
from firesteel.functions.columns.normalizing import Normalization
from firesteel.functions.columns.program import Formula, Program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.normalizing import NormalizeOperator
from tests.runtime.columns.columnar import Harness

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
ROW = RowType.of({"k": IntType(), "v": BigIntType()}, nullable=False)
SCHEMA = pa.schema([("k", pa.int32()), ("v", pa.int64())])
KEPT = RowType.of({"kept": BooleanType()}, nullable=False)
LARGE = Program(ROW, KEPT, (Formula('"1" > 4', "v > 4", BooleanType()),))
Change = tuple[int, int, int | None]


def batch(changes: list[Change]) -> ColumnBatch:
    kinds = np.array([kind for kind, *_ in changes], np.int8)
    columns = [
        pa.array([change[place] for change in changes], kind)
        for place, kind in ((1, SCHEMA.types[0]), (2, SCHEMA.types[1]))
    ]
    return ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), kinds if kinds.any() else None)


def take(table: dict[int, Any], change: Change, condition: bool) -> None:
    kind, key, value = change
    if kind == DELETE or (condition and not (value is not None and value > 4)):
        table.pop(key, None)
    else:
        table[key] = value


@pytest.mark.parametrize("condition", [False, True])
@pytest.mark.parametrize("old_rows", [False, True])
def test_the_table_is_that_of_the_last_changes(condition: bool, old_rows: bool) -> None:
    chance = random.Random(11)
    spec = Normalization(ROW, (0,), LARGE if condition else None, old_rows=old_rows)
    run = Harness(partial(NormalizeOperator, spec), keys=(0,))
    table: dict[int, Any] = {}
    seen: dict[int, Any] = {}
    for epoch in range(40):
        changes: list[Change] = [
            (
                chance.choice([INSERT, UPDATE_AFTER, DELETE]),
                chance.randrange(6),
                chance.choice([None, *range(9)]),
            )
            for _ in range(chance.randrange(8))
        ]
        lost = chance.random() < 0.2
        sent = run.rows(*([batch(changes)] if changes else []), lost=lost)
        if lost:
            run.renew()
            continue
        for change in changes:
            take(table, change, condition)
        follow(seen, sent, old_rows)
        assert seen == table
        if epoch % 7 == 6:
            run.renew(chance.choice([1, 2, 3]))


def follow(seen: dict[int, Any], sent: list[tuple[Any, ...]], old_rows: bool) -> None:
    """Take what was sent: one change for each key, each of which changes something."""
    touched = set()
    olds = {key: value for kind, key, value in sent if kind == UPDATE_BEFORE}
    for kind, key, value in sent:
        if kind == UPDATE_BEFORE:
            continue
        assert key not in touched
        touched.add(key)
        if kind == DELETE:
            assert seen.pop(key) == value
            continue
        assert (kind == INSERT) == (key not in seen)
        assert seen.get(key, "none") != value
        if kind == UPDATE_AFTER and old_rows:
            assert olds.pop(key) == seen[key]
        seen[key] = value
    assert not olds


def test_a_row_lives_as_long_as_it_comes_again() -> None:
    run = Harness(partial(NormalizeOperator, Normalization(ROW, (0,), time_to_live=100)))
    assert run.rows(batch([(INSERT, 1, 5)]), now=0) == [(INSERT, 1, 5)]
    assert run.rows(batch([(INSERT, 1, 5)]), now=60) == [(UPDATE_BEFORE, 1, 5), (UPDATE_AFTER, 1, 5)]
    assert run.rows(batch([(UPDATE_AFTER, 1, 6)]), now=120) == [(UPDATE_BEFORE, 1, 5), (UPDATE_AFTER, 1, 6)]
    assert run.rows(batch([(DELETE, 1, 6)]), now=220) == []
    assert run.rows(batch([(UPDATE_AFTER, 1, 6)]), now=220) == [(INSERT, 1, 6)]


def test_a_delete_needs_the_key_alone() -> None:
    run = Harness(partial(NormalizeOperator, Normalization(ROW, (0,))))
    run.rows(batch([(INSERT, 1, 5), (INSERT, 2, 6)]))
    assert run.rows(batch([(DELETE, 1, None), (DELETE, 3, None)])) == [(DELETE, 1, 5)]
