"""The first rows of partitions that change, beside lists that are ranked anew after each epoch."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import ArrayType, BigIntType, Field, IntType, RowType
from firesteel.functions.columns.ranks import Rank, RankFunction
from firesteel.functions.columns.sorting import SortColumn
from firesteel.runtime.columns import ranked_rows
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.ranks import RankOperator
from tests.runtime.columns.columnar import Harness

INSERT, DELETE = 0, 3
Row = tuple[Any, ...]
ROW = RowType.of({"k": IntType(), "v": BigIntType(), "id": BigIntType()}, nullable=False)
SCHEMA = pa.schema([("k", pa.int32()), ("v", pa.int64()), ("id", pa.int64())])
NUMBER = Field("n", BigIntType(nullable=False))
FUNCTIONS: list[RankFunction] = ["ROW_NUMBER", "RANK", "DENSE_RANK"]


def spec(function: RankFunction, start: int, end: int, **options: Any) -> Rank:
    shows = options.pop("shows", True)
    output = RowType((*ROW.fields, NUMBER), nullable=False) if shows else ROW
    order = (SortColumn(1, options.pop("ascending", True), True),)
    return Rank(ROW, output, options.pop("keys", (0,)), order, function, start, end, shows, **options)


def batch(changes: list[tuple[int, Row]]) -> ColumnBatch:
    columns = zip(*(row for _, row in changes), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    kinds = np.array([kind for kind, _ in changes], np.int8)
    return ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA), kinds if kinds.any() else None)


def model(rank: Rank, table: list[Row]) -> Counter[Row]:
    """Return the rows of a list in the order of their arrival that are shown."""
    (key,) = rank.order

    def value(row: Row) -> tuple[bool, int]:
        return row[1] is not None, (row[1] or 0) if key.ascending else -(row[1] or 0)

    found: Counter[Row] = Counter()
    by_key = sorted(table, key=lambda row: (row[0] is not None, row[0] or 0)) if rank.keys else table
    for _, part in groupby(by_key, key=lambda row: row[0] if rank.keys else None):
        rows = list(part)
        ordered = sorted(rows[::-1] if rank.latest else rows, key=value)
        values = [value(row) for row in ordered]
        end = rank.end if rank.end_column is None else rank.end + (rows[0][rank.end_column] or 0)
        for place, row in enumerate(ordered):
            number = {
                "ROW_NUMBER": place + 1,
                "RANK": values.index(values[place]) + 1,
                "DENSE_RANK": len(set(values[: place + 1])),
            }[rank.function]
            if rank.start <= number <= end:
                found[(*row, number) if rank.shows else row] += 1
    return found


def apply(table: Counter[Row], sent: list[Row]) -> None:
    for kind, *values in sent:
        row = tuple(values)
        table[row] += 1 if kind == INSERT else -1
        assert table[row] >= 0, row


def changed(table: list[Row], chance: random.Random, ids: int, *, retracts: bool) -> list[tuple[int, Row]]:
    changes: list[tuple[int, Row]] = []
    for number in range(chance.randrange(10)):
        if retracts and table and chance.random() < 0.45:
            row = table.pop(chance.randrange(len(table)))
            changes.append((DELETE, row))
        else:
            row = (chance.choice([None, 1, 2, 3]), chance.choice([None, 1, 2, 3, 4]), ids + number % 7)
            table.append(row)
            changes.append((INSERT, row))
    return changes


@pytest.mark.parametrize("latest", [False, True], ids=["first of equals", "last of equals"])
@pytest.mark.parametrize("shows", [True, False], ids=["rank", "no rank"])
@pytest.mark.parametrize("keys", [(0,), ()], ids=["partitions", "one partition"])
@pytest.mark.parametrize(("start", "end"), [(1, 1), (1, 3), (2, 3)])
@pytest.mark.parametrize("retracts", [False, True], ids=["inserts", "changes"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_rows_shown_are_those_of_the_whole_table(
    function: RankFunction,
    retracts: bool,
    start: int,
    end: int,
    keys: tuple[int, ...],
    shows: bool,
    latest: bool,
    thorough: bool,
) -> None:
    chance = random.Random(f"{function}{retracts}{start}{end}{keys}{shows}{latest}")
    rank = spec(
        function, start, end, keys=keys, shows=shows, latest=latest, retracts=retracts, ascending=not latest
    )
    run = Harness(partial(RankOperator, rank), keys=keys)
    table: list[Row] = []
    shown: Counter[Row] = Counter()
    for epoch in range(25 if thorough else 10):
        changes = changed(table, chance, epoch * 100, retracts=retracts)
        apply(shown, run.rows(*([batch(changes)] if changes else [])))
        assert +shown == model(rank, table)
        if epoch % 5 == 4:
            run.renew(chance.choice([1, 2, 3]) if keys else None)


@pytest.mark.parametrize("less", [0, 1])
@pytest.mark.parametrize("retracts", [False, True], ids=["inserts", "changes"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_column_of_the_partition_says_the_last_rank(
    function: RankFunction, retracts: bool, less: int
) -> None:
    chance = random.Random(f"{function}{retracts}{less}")
    rank = spec(function, 1, -less, end_column=0, retracts=retracts)
    run = Harness(partial(RankOperator, rank), keys=(0,))
    table: list[Row] = []
    shown: Counter[Row] = Counter()
    for epoch in range(25):
        changes = changed(table, chance, epoch * 100, retracts=retracts)
        apply(shown, run.rows(*([batch(changes)] if changes else [])))
        assert +shown == model(rank, table)
        if epoch % 5 == 4:
            run.renew(chance.choice([1, 2, 3]))
    assert shown


class Living:
    """The rows that a rank keeps with a time to live, and what it sends; rows equal in the order live together."""

    def __init__(self, rank: Rank, life: int) -> None:
        self.rank = rank
        self.life = life
        self.kept: list[tuple[Row, int]] = []

    def epoch(self, changes: list[tuple[int, Row]], now: int) -> Counter[Row]:
        """Return what is sent, each with its kind."""
        self.kept = [(row, written) for row, written in self.kept if written + self.life > now]
        before = self._shown()
        old = list(self.kept)
        for kind, row in changes:
            if kind == INSERT:
                self.kept.append((row, now))
            elif found := next((entry for entry in self.kept if entry[0] == row), None):
                self.kept.remove(found)
        after = self._shown()
        if not self.rank.retracts:
            everything = replace(self.rank, start=1, shows=False, output=ROW)
            left = model(everything, [row for row, _ in self.kept])
            self.kept = [entry for entry in self.kept if entry[0] in left]
        written = {row[:2] for row, _ in set(old) ^ set(self.kept)}
        self.kept = [(row, now if row[:2] in written else at) for row, at in self.kept]
        return Counter(
            {(DELETE, *row): count for row, count in (before - after).items()}
            | {(INSERT, *row): count for row, count in (after - before).items()}
        )

    def _shown(self) -> Counter[Row]:
        return model(self.rank, [row for row, _ in self.kept])


@pytest.mark.parametrize("shows", [True, False], ids=["rank", "no rank"])
@pytest.mark.parametrize("retracts", [False, True], ids=["inserts", "changes"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_row_lives_after_the_last_change_of_its_place_in_the_order(
    function: RankFunction, retracts: bool, shows: bool
) -> None:
    chance, life = random.Random(f"{function}{retracts}{shows}"), 100
    rank = spec(function, 1, 2, shows=shows, retracts=retracts, time_to_live=life)
    run, living, now = Harness(partial(RankOperator, rank), keys=(0,)), Living(rank, life), 1_000
    table: list[Row] = []
    for epoch in range(80):
        now += chance.choice([0, 10, 50, 100])
        # Each row is told apart from all others.
        changes = changed(table, chance, epoch * 100, retracts=retracts)
        changes = [change for place, change in enumerate(changes) if change not in changes[:place]]
        sent = run.rows(*([batch(changes)] if changes else []), now=now)
        assert Counter(sent) == living.epoch(changes, now), epoch
        if epoch % 9 == 8:
            run.renew(chance.choice([1, 2, 3]))


def test_inserts_that_cannot_be_shown_do_not_wait() -> None:
    run = Harness(partial(RankOperator, spec("ROW_NUMBER", 1, 2)), keys=(0,))
    run.epoch()
    operator = run.subtasks[0].operator
    assert isinstance(operator, RankOperator)
    operator.process(batch([(INSERT, (1, 100 - value, value)) for value in range(100)]), 0)
    assert operator._count == 2


def first_rows(run: Harness) -> int:
    """Return how many rows are kept together, and not aside."""
    operators = [one.operator for one in run.subtasks]
    return sum(
        part.num_rows
        for operator in operators
        if isinstance(operator, RankOperator)
        for part in operator._rows.rows()
    )


@pytest.mark.parametrize("few", [1, 1 << 10], ids=["short logs", "long logs"])
@pytest.mark.parametrize("keys", [(0,), ()], ids=["partitions", "one partition"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_rows_aside_come_in_when_first_ones_go(
    function: RankFunction, keys: tuple[int, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RankOperator, "slack", 0)
    monkeypatch.setattr(ranked_rows, "FEW", few)
    chance = random.Random(f"{function}{keys}{few}")
    rank = spec(function, 1, 2, keys=keys, retracts=True)
    run = Harness(partial(RankOperator, rank), keys=keys)
    table: list[Row] = []
    shown: Counter[Row] = Counter()
    most_aside = 0
    for epoch in range(60):
        changes: list[tuple[int, Row]] = []
        for _ in range(chance.randrange(20)):
            if table and chance.random() < (0.3 if epoch % 20 < 10 else 0.75):
                first = chance.random() < 0.5  # what is shown goes more often than other rows
                best = min(table, key=lambda row: (row[1] is not None, row[1] or 0))
                place = table.index(best if first else chance.choice(table))
                changes.append((DELETE, table.pop(place)))
            else:
                row = (chance.choice([None, 1]), chance.choice([None, *range(9)]), chance.randrange(3))
                table.append(row)
                changes.append((INSERT, row))
        apply(shown, run.rows(*([batch(changes)] if changes else [])))
        assert +shown == model(rank, table)
        most_aside = max(most_aside, len(table) - first_rows(run))
        if epoch % 7 == 6:
            run.renew(chance.choice([1, 2, 3]) if keys else None)
    assert most_aside > 10


def test_what_can_never_be_shown_is_not_kept() -> None:
    run = Harness(partial(RankOperator, spec("ROW_NUMBER", 1, 2)))
    run.rows(batch([(INSERT, (1, value, value)) for value in range(9)]))
    assert first_rows(run) == 2


def test_rows_whose_rank_moves_are_not_sent_if_it_is_not_shown() -> None:
    rank = spec("ROW_NUMBER", 1, 3, shows=False)
    run = Harness(partial(RankOperator, rank))
    run.rows(batch([(INSERT, (1, 5, 0)), (INSERT, (1, 6, 1))]))
    assert run.rows(batch([(INSERT, (1, 4, 2))])) == [(INSERT, 1, 4, 2)]
    assert run.rows(batch([(INSERT, (1, 3, 3))])) == [(DELETE, 1, 6, 1), (INSERT, 1, 3, 3)]


def test_arrays_have_no_order() -> None:
    row = RowType.of({"a": ArrayType(IntType())}, nullable=False)
    run = Harness(
        partial(RankOperator, Rank(row, row, (), (SortColumn(0, True, True),), "RANK", 1, 1, False))
    )
    with pytest.raises(UnsupportedError, match="cannot sort by values of this type"):
        run.rows()
