"""Temporal joins in event time, beside Flink's operator in plain Python, over random rows and changes of versions."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.logical_types import BigIntType, IntType, RowType, TimestampKind, TimestampType
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.joins import Join, JoinKind
from firesteel.functions.columns.temporal_joins import TemporalJoin, Versions
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import joined_row
from firesteel.relational.logical.temporal_joins import plain_times
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.temporal_joins import operator as joins
from firesteel.runtime.columns.temporal_joins.operator import TemporalJoinOperator
from firesteel.runtime.columns.temporal_joins.versions import VersionsOperator
from tests.runtime.columns.columnar import Harness

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3
Row = tuple[Any, ...]
TIME = TimestampType(3, TimestampKind.ROWTIME)
LEFT = RowType.of({"k": IntType(), "n": BigIntType(), "ts": TIME}, nullable=False)
RIGHT = RowType.of({"ts": TIME, "v": BigIntType(), "k": IntType()}, nullable=False)
LEFT_SCHEMA = pa.schema([("k", pa.int32()), ("n", pa.int64()), ("ts", pa.timestamp("us"))])
RIGHT_SCHEMA = pa.schema([("ts", pa.timestamp("us")), ("v", pa.int64()), ("k", pa.int32())])
SCHEMAS = (LEFT_SCHEMA, RIGHT_SCHEMA)
START = dt.datetime(1970, 1, 1)
MILLISECOND = dt.timedelta(milliseconds=1)


def spec(*, outer: bool, smaller: bool) -> TemporalJoin:
    condition = None
    if smaller:
        types = [*(field.type for field in (*LEFT.fields, *RIGHT.fields)), BigIntType(nullable=False)]
        given = RowType.of({str(place): kind for place, kind in enumerate(types)}, nullable=False)
        less = resolve("<", (InputRef(types[1], 1), InputRef(types[4], 4)))
        condition = program(given, [InputRef(types[6], 6)], ["pair"], less)
    kind: JoinKind = "LEFT" if outer else "INNER"
    output = joined_row(LEFT, plain_times(RIGHT), kind)
    return TemporalJoin(Join(kind, LEFT, RIGHT, output, (0,), (2,), (False,), condition), 2, 0)


def batch(side: int, changes: list[tuple[int, Row]]) -> tuple[int, ColumnBatch]:
    place = 2 if side == 0 else 0
    rows = [tuple(cell * 1000 if at == place else cell for at, cell in enumerate(row)) for _, row in changes]
    arrays = [
        pa.array(column, kind)
        for column, kind in zip(zip(*rows, strict=True), SCHEMAS[side].types, strict=True)
    ]
    kinds = np.array([kind for kind, _ in changes], np.int8)
    return side, ColumnBatch(
        pa.RecordBatch.from_arrays(arrays, schema=SCHEMAS[side]), kinds if kinds.any() else None
    )


class Model:
    """What Flink's operator does, row by row.

    A left row behind the watermark meets no version that another one up to this watermark replaces, as if those were
    removed at once.
    """

    def __init__(self, join: TemporalJoin) -> None:
        self.join = join
        self.watermark = -1
        self.left: list[tuple[int, Row, int]] = []
        self.versions: dict[Any, dict[int, tuple[int, Row]]] = {}

    def version(self, kind: int, row: Row) -> None:
        if kind != UPDATE_BEFORE:
            self.versions.setdefault(row[2], {})[row[0]] = kind, row

    def advance(self, watermark: int) -> Counter[Row]:
        self.watermark = watermark
        found: Counter[Row] = Counter()
        due = [waiting for waiting in self.left if waiting[1][2] <= watermark]
        self.left = [waiting for waiting in self.left if waiting[1][2] > watermark]
        for waiting in due:
            found.update(self.joined(*waiting))
        for versions in self.versions.values():
            passed = sorted(time for time in versions if time <= watermark)
            for time in passed[:-1]:
                del versions[time]
        return found

    def come(self, kind: int, row: Row) -> None:
        self.left.append((kind, row, self.watermark))

    def joined(self, kind: int, row: Row, behind: int) -> list[Row]:
        versions = self.versions.get(row[0], {})
        valid = max((time for time in versions if time <= row[2]), default=None)
        if valid is not None and not any(row[2] < time <= behind for time in versions):
            other_kind, other = versions[valid]
            smaller = self.join.join.condition is None or (
                None not in (row[1], other[1]) and row[1] < other[1]
            )
            if other_kind != DELETE and smaller:
                return [(kind, *row, *other)]
        return [(kind, *row, None, None, None)] if self.join.join.kind == "LEFT" else []


def plain(sent: list[Row]) -> Counter[Row]:
    """Return what was sent with times as milliseconds, as rows have them here."""
    return Counter(
        tuple((cell - START) // MILLISECOND if isinstance(cell, dt.datetime) else cell for cell in row)
        for row in sent
    )


def random_left(chance: random.Random, around: int) -> tuple[int, Row]:
    row = (
        chance.choice([None, 1, 2, 3]),
        chance.choice([None, 1, 2, 3]),
        max(around + chance.randrange(-4, 12), 0),
    )
    return chance.choice([INSERT, INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE]), row


def random_version(chance: random.Random, around: int) -> tuple[int, Row]:
    row = (
        max(around + chance.randrange(-6, 16), 0),
        chance.choice([None, 1, 2, 3]),
        chance.choice([None, 1, 2, 3]),
    )
    return chance.choice([INSERT, UPDATE_BEFORE, UPDATE_AFTER, UPDATE_AFTER, DELETE]), row


@pytest.mark.parametrize("small", [True, False], ids=["in small parts", "at once"])
@pytest.mark.parametrize("smaller", [True, False], ids=["condition", "keys alone"])
@pytest.mark.parametrize("outer", [True, False], ids=["LEFT", "INNER"])
def test_left_rows_meet_the_version_of_their_time(
    outer: bool, smaller: bool, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        monkeypatch.setattr(joins, "_ROWS_AT_ONCE", 2)
        monkeypatch.setattr(joins, "_MOST_WAITING", 3)
    check(spec(outer=outer, smaller=smaller), random.Random(f"{outer}{smaller}"), 60)


@given(outer=st.booleans(), smaller=st.booleans(), chance=st.randoms(use_true_random=False))
def test_any_rows_meet_the_version_of_their_time(outer: bool, smaller: bool, chance: random.Random) -> None:
    check(spec(outer=outer, smaller=smaller), chance, 8)


def check(join: TemporalJoin, chance: random.Random, epochs: int) -> None:
    """Join random rows and versions, and compare what is sent with the model; some epochs are lost."""
    run, model = Harness(partial(TemporalJoinOperator, join), keys=(0,), second_keys=(2,)), Model(join)
    for number in range(epochs):
        if chance.random() < 0.1:
            run.renew(chance.choice([1, 2, 3]))
        # A lost epoch leaves nothing behind; what it would have sent comes with the next one.
        if chance.random() < 0.15:
            run.epoch(batch(0, [random_left(chance, number)]), model.watermark + 1, lost=True)
            run.renew()
        versions = [random_version(chance, number) for _ in range(chance.randrange(5))]
        left = [random_left(chance, number) for _ in range(chance.randrange(6))]
        steps: list[Any] = [batch(side, given) for side, given in ((1, versions), (0, left)) if given]
        for change in versions:
            model.version(*change)
        for change in left:
            model.come(*change)
        watermark = model.watermark + chance.randrange(1, 4)
        expected = model.advance(watermark)
        assert plain(run.rows(*steps, watermark)) == expected, number
    assert plain(run.rows(final=True)) == model.advance(MAX_WATERMARK)


def test_what_is_replaced_is_forgotten() -> None:
    run = Harness(
        partial(TemporalJoinOperator, spec(outer=False, smaller=False)), keys=(0,), second_keys=(2,)
    )
    for time in range(0, 100, 2):
        run.epoch(batch(1, [(UPDATE_AFTER, (time, time, 1)), (INSERT, (time, 0, time + 2))]), time)
    operator = run.subtasks[0].operator
    assert isinstance(operator, TemporalJoinOperator)
    assert sum(rows.num_rows for rows in operator.versions.rows.rows()) == 51


def test_a_late_row_meets_a_version_that_nothing_replaces() -> None:
    run = Harness(partial(TemporalJoinOperator, spec(outer=True, smaller=False)), keys=(0,), second_keys=(2,))
    versions = [(INSERT, (2, 20, 1)), (UPDATE_AFTER, (6, 60, 1)), (INSERT, (2, 20, 2))]
    assert run.rows(batch(1, versions), 8) == []
    late = [(INSERT, (1, 0, 4)), (INSERT, (1, 0, 7)), (INSERT, (2, 0, 4)), (INSERT, (2, 0, 1))]
    found = plain(run.rows(batch(0, late)))
    assert found == Counter(
        [
            (0, 1, 0, 4, None, None, None),
            (0, 1, 0, 7, 6, 60, 1),
            (0, 2, 0, 4, 2, 20, 2),
            (0, 2, 0, 1, None, None, None),
        ]
    )


def test_rows_that_are_the_last_ones_pass() -> None:
    spec = Versions(RIGHT, (2,), 0)
    run = Harness(partial(VersionsOperator, spec), keys=(2,))
    chance, last = random.Random(5), dict[Any, int]()
    for number in range(40):
        if number % 9 == 8:
            run.renew(chance.choice([1, 2, 3]))
        rows = [(chance.randrange(number, number + 9), number, chance.choice([None, 1, 2])) for _ in range(7)]
        expected: Counter[Row] = Counter()
        for row in rows:
            if row[0] >= last.get(row[2], row[0]):
                expected[UPDATE_AFTER if row[2] in last else INSERT, *row] += 1
                last[row[2]] = row[0]
        assert plain(run.rows(batch(1, [(INSERT, row) for row in rows])[1])) == expected
