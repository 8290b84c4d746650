"""Lookup joins over random changes, beside a join of lists, with all ways to find rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.logical_types import BigIntType, IntType, RowType, VarCharType
from firesteel.functions.columns.joins import Join, JoinKind
from firesteel.functions.columns.lookups import (
    Cache,
    FullCache,
    LookedUp,
    LookupJoin,
    LookupTable,
    PartialCache,
    Retry,
    ScannableLookup,
    TableLookup,
)
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import joined_row
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.lookups.finding import Asking, Retrying
from firesteel.runtime.columns.lookups.operator import LookupJoinOperator
from firesteel.runtime.columns.lookups.partial import RecentRows
from tests.runtime.columns.columnar import Harness

Row = tuple[Any, ...]
LEFT = RowType.of({"k": IntType(), "n": BigIntType()}, nullable=False)
RIGHT = RowType.of({"name": VarCharType(9), "k": IntType(), "v": BigIntType()}, nullable=False)
LEFT_SCHEMA = pa.schema([("k", pa.int32()), ("n", pa.int64())])
RIGHT_SCHEMA = pa.schema([("name", pa.string()), ("k", pa.int32()), ("v", pa.int64())])
KEYS = pa.schema([("k", pa.int32())])
CACHES: list[Cache] = [None, PartialCache(), PartialCache(2, missing=False), FullCache()]


class Listed(ScannableLookup):
    """Rows of a list, which may be changed between calls; `asked` has the keys of each call."""

    def __init__(self, table: list[Row]) -> None:
        self.table = table
        self.asked: list[list[int]] = []
        self.reads = 0

    def look_up(self, keys: pa.RecordBatch) -> LookedUp:
        wanted = keys["k"].to_pylist()
        assert len(set(wanted)) == len(wanted)
        assert None not in wanted
        self.asked.append(wanted)
        found = [(number, row) for number, key in enumerate(wanted) for row in self.table if row[1] == key]
        return LookedUp(
            np.array([number for number, _ in found], np.int64), rows_of([row for _, row in found])
        )

    def rows(self) -> Iterator[pa.RecordBatch]:
        self.reads += 1
        yield rows_of(self.table)


def rows_of(rows: list[Row]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * 3
    arrays = [pa.array(column, kind) for column, kind in zip(columns, RIGHT_SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RIGHT_SCHEMA)


def left(changes: list[tuple[int, Row]]) -> ColumnBatch:
    arrays = [
        pa.array([row[place] for _, row in changes], kind) for place, kind in enumerate(LEFT_SCHEMA.types)
    ]
    kinds = np.array([kind for kind, _ in changes], np.int8)
    return ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=LEFT_SCHEMA), kinds if kinds.any() else None)


def spec(
    kind: JoinKind, lookup: TableLookup, cache: Cache = None, *, smaller: bool = False, **more: Any
) -> LookupJoin:
    condition = None
    if smaller:
        types = [*(field.type for field in (*LEFT.fields, *RIGHT.fields)), BigIntType(nullable=False)]
        given = RowType.of({str(place): kind for place, kind in enumerate(types)}, nullable=False)
        less = resolve("<", (InputRef(types[1], 1), InputRef(types[4], 4)))
        condition = program(given, [InputRef(types[5], 5)], ["pair"], less)
    join = Join(kind, LEFT, RIGHT, joined_row(LEFT, RIGHT, kind), condition=condition)
    keys = RowType.of({"k": IntType()}, nullable=False)
    return LookupJoin(join, LookupTable(lookup, cache), keys, (0,), **more)


def model(kind: JoinKind, smaller: bool, table: list[Row], changes: list[tuple[int, Row]]) -> list[Row]:
    found: list[Row] = []
    for change, row in changes:
        partners = [
            other
            for other in table
            if row[0] is not None
            and row[0] == other[1]
            and (not smaller or (None not in (row[1], other[2]) and row[1] < other[2]))
        ]
        found.extend((change, *row, *other) for other in partners)
        if not partners and kind == "LEFT":
            found.append((change, *row, None, None, None))
    return found


@pytest.mark.parametrize("cache", CACHES, ids=["none", "partial", "small", "full"])
@pytest.mark.parametrize("smaller", [True, False], ids=["condition", "keys alone"])
@pytest.mark.parametrize("kind", ["LEFT", "INNER"])
def test_left_rows_meet_the_rows_of_the_table(kind: JoinKind, smaller: bool, cache: Cache) -> None:
    check(kind, smaller, cache, random.Random(f"{kind}{smaller}"), 30)


@given(
    kind=st.sampled_from(["LEFT", "INNER"]),
    smaller=st.booleans(),
    cache=st.sampled_from(CACHES),
    chance=st.randoms(use_true_random=False),
)
def test_any_left_rows_meet_the_rows_of_the_table(
    kind: JoinKind, smaller: bool, cache: Cache, chance: random.Random
) -> None:
    check(kind, smaller, cache, chance, 6)


def check(kind: JoinKind, smaller: bool, cache: Cache, chance: random.Random, epochs: int) -> None:
    """Look random rows up, and compare what is sent with the model after each epoch; some are lost and tried again."""
    table = [(chance.choice("abc"), chance.randrange(6), chance.choice([None, 1, 2, 3])) for _ in range(9)]
    lookup = Listed(table)
    run = Harness(partial(LookupJoinOperator, spec(kind, lookup, cache, smaller=smaller)))
    for number in range(epochs):
        if chance.random() < 0.15:
            run.renew(chance.choice([1, 2]))
        changes = [
            (chance.randrange(4), (chance.choice([None, *range(8)]), chance.choice([None, 1, 2])))
            for _ in range(chance.randrange(1, 9))
        ]
        if chance.random() < 0.2:
            run.epoch(left(changes), lost=True)
            run.renew()
        sent = run.rows(left(changes[:3]), *([left(changes[3:])] if changes[3:] else []))
        expected = model(kind, smaller, table, changes)
        assert Counter(sent) == Counter(expected), number
        if run.parallelism == 1:
            assert [row[:3] for row in sent] == [row[:3] for row in expected], "the order of left rows"


def test_the_keys_of_an_epoch_are_looked_up_at_once() -> None:
    lookup = Listed([("a", 1, 10)])
    run = Harness(partial(LookupJoinOperator, spec("LEFT", lookup)))
    run.rows(left([(0, (1, 1)), (0, (2, 1))]), left([(0, (1, 2)), (0, (None, 1))]))
    assert lookup.asked == [[1, 2]]


def test_a_constant_is_a_key_like_others() -> None:
    lookup = Listed([("a", 1, 10)])
    join = spec("LEFT", lookup)
    constant = LookupJoin(join.join, join.table, join.key_row, (pa.array([1], pa.int32()),))
    run = Harness(partial(LookupJoinOperator, constant))
    assert run.rows(left([(0, (5, 1)), (0, (None, 2))])) == [(0, 5, 1, "a", 1, 10), (0, None, 2, "a", 1, 10)]


def test_the_columns_are_computed_of_the_rows_that_are_there() -> None:
    types = [field.type for field in RIGHT.fields]
    number = BigIntType(nullable=False)
    given = RowType.of(dict(zip([*RIGHT.field_names, "$key"], [*types, number], strict=True)), nullable=False)
    doubled = resolve("+", (InputRef(types[2], 2), InputRef(types[2], 2)))
    large = resolve(">", (InputRef(types[2], 2), InputRef(types[2], 2)))
    right = RowType.of({"twice": BigIntType(), "k": IntType()}, nullable=False)
    for condition, expected in ((None, [(0, 1, 1, 20, 1)]), (large, [(0, 1, 1, None, None)])):
        values = [doubled, InputRef(types[1], 1), InputRef(number, 3)]
        made = program(given, values, ["twice", "k", "$key"], condition)
        join = Join("LEFT", LEFT, right, joined_row(LEFT, right, "LEFT"))
        keys = RowType.of({"k": IntType()}, nullable=False)
        table = LookupTable(Listed([("a", 1, 10)]))
        run = Harness(partial(LookupJoinOperator, LookupJoin(join, table, keys, (0,), made)))
        assert run.rows(left([(0, (1, 1))])) == expected


def asked(keys: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(keys, pa.int32())], schema=KEYS)


def found(answer: LookedUp) -> list[tuple[int, str]]:
    return sorted(zip(answer.keys.tolist(), answer.rows["name"].to_pylist(), strict=True))


def test_what_was_looked_up_is_kept_until_it_expires() -> None:
    lookup = Listed([("a", 1, 0), ("b", 2, 0), ("c", 2, 0)])
    kept = RecentRows(Asking(lookup), PartialCache(after_write=100, after_access=60), KEYS, RIGHT_SCHEMA)
    assert found(kept.find(asked([2, 1, 7]), 0)) == [(0, "b"), (0, "c"), (1, "a")]
    lookup.table[0] = ("z", 1, 0)
    assert found(kept.find(asked([7, 1]), 50)) == [(1, "a")]
    assert found(kept.find(asked([1, 2]), 99)) == [(0, "a"), (1, "b"), (1, "c")]
    assert found(kept.find(asked([1]), 100)) == [(0, "z")]
    assert lookup.asked == [[2, 1, 7], [2], [1]]


def test_the_keys_that_were_used_last_are_kept() -> None:
    lookup = Listed([("a", 1, 0), ("b", 2, 0), ("c", 3, 0)])
    kept = RecentRows(Asking(lookup), PartialCache(2, missing=False), KEYS, RIGHT_SCHEMA)
    for now, key in enumerate([1, 2, 1, 3, 1, 2, 9, 9]):
        kept.find(asked([key]), now)
    assert lookup.asked == [[1], [2], [3], [2], [9], [9]]


def test_all_rows_are_read_again_when_it_is_time() -> None:
    lookup = Listed([("a", 1, 0)])
    run = Harness(partial(LookupJoinOperator, spec("INNER", lookup, FullCache(interval=100))))
    assert [row[3] for row in run.rows(left([(0, (1, 1))]), now=1_000)] == ["a"]
    lookup.table[0] = ("z", 1, 0)
    assert [row[3] for row in run.rows(left([(0, (1, 1))]), now=1_099)] == ["a"]
    assert [row[3] for row in run.rows(left([(0, (1, 1))]), now=1_100)] == ["z"]
    assert (lookup.reads, lookup.asked) == (2, [])


def test_keys_without_a_row_are_looked_up_again() -> None:
    lookup = Listed([("a", 1, 0)])
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            lookup.table.append(("b", 2, 0))

    finder = Retrying(Asking(lookup), Retry(1_500, 3), wait)
    assert found(finder.find(asked([2, 1]), 0)) == [(0, "b"), (1, "a")]
    assert (waits, lookup.asked) == ([1.5, 1.5], [[2, 1], [2], [2]])
    finder.find(asked([5]), 0)
    assert lookup.asked[3:] == [[5]] * 4
