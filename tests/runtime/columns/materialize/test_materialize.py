"""The operators before a sink whose primary key is not the query's, beside Flink's, row by row.

The models below are what Flink's SinkUpsertMaterializer and WatermarkCompactingSinkMaterializer do with each row.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import ConstraintError
from firesteel.common.logical_types import RowType, parse_type
from firesteel.functions.columns.sinks import Conflict, Materialization
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.materialize.operators import CompactingOperator, MaterializeOperator
from tests.runtime.columns.columnar import Harness

INSERT, BEFORE, AFTER, DELETE = range(4)
SIGNS = {INSERT: 1, BEFORE: -1, AFTER: 1, DELETE: -1}

Row = tuple[str, int | None, int]
"""The query's key, the sink's key, and a value."""

Change = tuple[int, Row]


def row_type() -> RowType:
    parsed = parse_type("ROW<word STRING, k INT, v BIGINT> NOT NULL")
    assert isinstance(parsed, RowType)
    return parsed


ROW = row_type()
SCHEMA = pa.schema([("word", pa.string()), ("k", pa.int32()), ("v", pa.int64())])


def batch(changes: Iterable[Change]) -> ColumnBatch:
    given = [*changes]
    columns = zip(*(row for _, row in given), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    kinds = np.array([kind for kind, _ in given], np.int8)
    return ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA), kinds)


def harness(
    conflict: Conflict, upsert_key: tuple[int, ...], parallelism: int = 1, time_to_live: int | None = None
) -> Harness:
    operator = MaterializeOperator if conflict == "DEDUPLICATE" else CompactingOperator
    make = partial(operator, Materialization(ROW, (1,), upsert_key, conflict, time_to_live))
    return Harness(make, [1], parallelism)  # type: ignore[arg-type]


@dataclass
class Table:
    """A table by its key, from changes by this key."""

    rows: dict[int | None, Row] = field(default_factory=dict)

    def apply(self, changes: Iterable[tuple[object, ...]]) -> None:
        for kind, *values in changes:
            row: Row = tuple(values)  # type: ignore[assignment]
            if kind == DELETE:
                assert self.rows.pop(row[1]) == row
            else:
                assert (kind == AFTER) == (row[1] in self.rows)
                self.rows[row[1]] = row


@dataclass
class Lists:
    """The rows of each key, in Flink's order."""

    by_word: bool
    rows: defaultdict[int | None, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def same(self, one: Row, other: Row) -> bool:
        return one[0] == other[0] if self.by_word else one == other

    def apply(self, change: Change) -> None:
        kind, row = change
        known = self.rows[row[1]]
        at = next((place for place, other in enumerate(known) if self.same(row, other)), None)
        if SIGNS[kind] < 0:
            if at is not None:
                del known[at]
        elif self.by_word and at is not None:
            known[at] = row
        else:
            known.append(row)

    def table(self) -> dict[int | None, Row]:
        return {key: rows[-1] for key, rows in self.rows.items() if rows}


def moves(count: int, seed: int, words: int = 8, keys: int = 4) -> list[Change]:
    """The changes of rows that get other keys and values, and go."""
    chance = random.Random(seed)
    current: dict[str, Row] = {}
    changes: list[Change] = []
    for _ in range(count):
        word = f"w{chance.randrange(words)}"
        old = current.get(word)
        if old is not None and chance.random() < 0.3:
            changes.append((DELETE, current.pop(word)))
            continue
        key = chance.choice([*range(keys), None])
        row = (word, key, chance.randrange(3))
        if row == old:
            continue
        current[word] = row
        changes += [(INSERT, row)] if old is None else [(BEFORE, old), (AFTER, row)]
    return changes


def test_the_last_row_of_a_key_is_written_and_the_one_before_comes_back() -> None:
    run = harness("DEDUPLICATE", (0,))
    assert run.rows(batch([(INSERT, ("a", 1, 1))])) == [(INSERT, "a", 1, 1)]
    assert run.rows(batch([(INSERT, ("b", 1, 2))])) == [(AFTER, "b", 1, 2)]
    assert run.rows(batch([(BEFORE, ("a", 1, 1)), (AFTER, ("a", 1, 9))])) == [(AFTER, "a", 1, 9)]
    assert run.rows(batch([(DELETE, ("a", 1, 9))])) == [(AFTER, "b", 1, 2)]
    assert run.rows(batch([(DELETE, ("b", 1, 2))])) == [(DELETE, "b", 1, 2)]


def test_a_new_row_of_an_upsert_key_keeps_its_place_unless_the_old_one_went() -> None:
    run = harness("DEDUPLICATE", (0,))
    assert run.rows(batch([(INSERT, ("a", 1, 1)), (INSERT, ("b", 1, 1))])) == [(INSERT, "b", 1, 1)]
    assert run.rows(batch([(AFTER, ("a", 1, 2))])) == []
    assert run.rows(batch([(DELETE, ("b", 1, 1))])) == [(AFTER, "a", 1, 2)]


def test_a_retraction_of_what_is_not_there_does_nothing() -> None:
    for key in ((0,), ()):
        run = harness("DEDUPLICATE", key)
        assert run.rows(batch([(DELETE, ("a", 1, 1)), (INSERT, ("a", 1, 1))])) == [(INSERT, "a", 1, 1)]
        assert run.rows(batch([(DELETE, ("x", 1, 1))])) == []


@pytest.mark.parametrize("upsert_key", [(0,), ()])
@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("epochs", [1, 7, 100])
@pytest.mark.parametrize("seed", range(4))
def test_the_table_is_that_of_flink_after_each_epoch(
    upsert_key: tuple[int, ...], parallelism: int, epochs: int, seed: int
) -> None:
    changes = moves(300, seed)
    run = harness("DEDUPLICATE", upsert_key, parallelism)
    model, table = Lists(bool(upsert_key)), Table()
    for part in np.array_split(np.arange(len(changes)), epochs):
        given = [changes[place] for place in part]
        for change in given:
            model.apply(change)
        table.apply(run.rows(*([batch(given)] if given else [])))
        assert table.rows == model.table()
        if seed == 0 and len(part) and part[0] % 3 == 0:
            run.renew(parallelism + 1)


@dataclass
class Living(Lists):
    """The rows of each key as a value of Flink's state with a time to live, and the table that is written."""

    time_to_live: int = 10
    written: dict[int | None, int] = field(default_factory=dict)
    sink: dict[int | None, Row] = field(default_factory=dict)

    def change(self, change: Change, now: int) -> None:
        key = change[1][1]
        if now - self.written.get(key, now) >= self.time_to_live:
            self.rows[key].clear()
        before = [*self.rows[key]]
        self.apply(change)
        after = self.rows[key]
        if before == after and SIGNS[change[0]] < 0:
            return
        self.written[key] = now
        if not after:
            del self.sink[key]
        elif SIGNS[change[0]] > 0:
            self.sink[key] = change[1] if self.by_word else after[-1]
        elif after[-1] != before[-1]:
            self.sink[key] = after[-1]


def test_the_rows_of_a_key_live_as_long_as_its_last_change() -> None:
    run = harness("DEDUPLICATE", (0,), time_to_live=10)
    assert run.rows(batch([(INSERT, ("a", 1, 1))]), now=100) == [(INSERT, "a", 1, 1)]
    assert run.rows(batch([(INSERT, ("b", 1, 2))]), now=105) == [(AFTER, "b", 1, 2)]
    assert run.rows(batch([(DELETE, ("x", 1, 2))]), now=109) == []  # what is not there writes nothing
    assert run.rows(batch([(DELETE, ("b", 1, 2))]), now=114) == [(AFTER, "a", 1, 1)]
    assert run.rows(batch([(DELETE, ("a", 1, 1))]), now=124) == []
    assert run.rows(batch([(INSERT, ("c", 1, 3))]), now=125) == [(INSERT, "c", 1, 3)]


@pytest.mark.parametrize("upsert_key", [(0,), ()])
@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_with_a_time_to_live_the_table_is_that_of_flink(
    upsert_key: tuple[int, ...], parallelism: int, seed: int
) -> None:
    chance = random.Random(seed)
    changes = moves(70, seed, words=4, keys=2)
    run = harness("DEDUPLICATE", upsert_key, parallelism, time_to_live=10)
    model = Living(bool(upsert_key))
    table: dict[int | None, Row] = {}
    now = 100
    while changes:
        count = 1 if upsert_key else chance.randrange(1, 4)
        given, changes = changes[:count], changes[count:]
        for change in given:
            model.change(change, now)
        for kind, *values in run.rows(batch(given), now=now):
            if kind == DELETE:
                table.pop(values[1], None)  # what comes and goes in an epoch may never have been written
            else:
                table[values[1]] = tuple(values)  # type: ignore[assignment]
        assert table == model.sink
        now += chance.choice([0, 1, 4, 9, 10, 12])
        if seed % 2 and chance.random() < 0.1:
            run.renew(chance.randrange(1, 4))


@dataclass
class Written:
    """The row that is written for each key, when changes are compacted as in Flink: at each watermark."""

    by_word: bool
    rows: dict[int | None, Row] = field(default_factory=dict)
    waiting: list[Change] = field(default_factory=list)

    def watermark(self) -> None:
        lists = Lists(self.by_word)
        for key in {row[1] for _, row in self.waiting}:
            old = self.rows.get(key)
            if old is not None:
                lists.rows[key].append(old)
            for change in self.waiting:
                if change[1][1] == key:
                    lists.apply(change)
            left = lists.rows[key]
            if (len(left) > 1 and old is None) or len(left) == 1:
                self.rows[key] = left[0]
            elif not left:
                self.rows.pop(key, None)
        self.waiting = []


@pytest.mark.parametrize("upsert_key", [(0,), ()])
@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_first_row_of_a_key_stays(upsert_key: tuple[int, ...], parallelism: int, seed: int) -> None:
    changes = moves(200, seed)
    chance = random.Random(seed)
    run = harness("NOTHING", upsert_key, parallelism)
    model, table = Written(bool(upsert_key)), Table()
    watermark = 0
    while changes:
        steps: list[ColumnBatch | int] = []
        for _ in range(chance.randrange(4)):
            count = chance.randrange(9)
            some, changes = changes[:count], changes[count:]
            if some:
                steps.append(batch(some))
                model.waiting += some
            if chance.random() < 0.5:
                watermark += 1
                steps.append(watermark)
                model.watermark()
        table.apply(run.rows(*steps))
        assert table.rows == model.rows
    run.rows(final=True)


def test_changes_wait_for_the_watermark_over_epochs_and_restarts() -> None:
    run = harness("NOTHING", (0,))
    assert run.rows(batch([(INSERT, ("a", 1, 1))])) == []
    run.renew()
    assert run.rows(batch([(BEFORE, ("a", 1, 1)), (AFTER, ("a", 2, 1)), (INSERT, ("b", 1, 5))])) == []
    assert sorted(run.rows(7)) == [(INSERT, "a", 2, 1), (INSERT, "b", 1, 5)]


def test_a_second_row_of_a_key_is_an_error_that_names_the_key() -> None:
    run = harness("ERROR", (0,))
    assert run.rows(batch([(INSERT, ("a", 1, 1)), (INSERT, ("b", 2, 1))]), 5) != []
    with pytest.raises(ConstraintError, match=r"several rows with the key \[k=2\]"):
        run.rows(batch([(INSERT, ("c", 2, 1))]), 6)


def test_an_update_that_moves_a_row_is_no_conflict() -> None:
    run = harness("ERROR", (0,))
    run.rows(batch([(INSERT, ("a", 1, 1))]), 5)
    changes = batch([(INSERT, ("b", 1, 2)), (DELETE, ("a", 1, 1))])
    assert run.rows(changes, 6) == [(AFTER, "b", 1, 2)]
