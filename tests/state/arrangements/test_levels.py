"""How an arrangement lays out what it keeps: levels, merges, drops and the chunks of a level."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.chunk import Kept
from firesteel.state.arrangements.drops import Drop
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.levels import Level, rows_of
from tests.state.arrangements.test_arrangement import KEYS, ROWS


class Counting:
    """A shelf in memory that counts rows."""

    def __init__(self) -> None:
        self.rows = 0

    def keep(self, batch: pa.RecordBatch) -> Kept:
        self.rows += batch.num_rows
        return Kept(batch)


def test_levels_stay_few() -> None:
    layout = Layout(pa.schema([("key", pa.int64())]), ("key",))
    arrangement = Arrangement(layout, chunk_rows=64)
    levels: list[Level] = []
    for epoch in range(200):
        arrangement.put(pa.RecordBatch.from_pydict({"key": range(epoch * 50, epoch * 50 + 50)}))
        levels.append(arrangement.changes().level)
    assert [rows_of(level) for level in levels] == [50] * 200
    assert arrangement.level_sizes()[-1] >= 3_000
    assert len(arrangement.level_sizes()) <= 10


def test_a_queue_keeps_what_is_in_it_and_little_more() -> None:
    layout = Layout(pa.schema([("key", pa.int64())]), ("key",))
    arrangement = Arrangement(layout, chunk_rows=64)
    sizes = []
    for epoch in range(400):
        arrangement.put(pa.RecordBatch.from_pydict({"key": range(epoch * 50, epoch * 50 + 50)}))
        if epoch >= 10:
            gone = range(epoch * 50 - 500, epoch * 50 - 450)
            arrangement.delete(pa.RecordBatch.from_pydict({"key": gone}))
        arrangement.changes()
        sizes.append(sum(arrangement.level_sizes()))
    assert max(sizes) <= 5 * 500


def test_a_merge_costs_each_epoch_a_share_of_it() -> None:
    layout = Layout(pa.schema([("key", pa.int64())]), ("key",))
    shelf = Counting()
    arrangement = Arrangement(layout, shelf, chunk_rows=100)
    for start in (0, 5_000):
        arrangement.put(pa.RecordBatch.from_pydict({"key": range(start, start + 5_000)}))
        arrangement.changes()
    arrangement.settle()
    merged = []
    for epoch in range(100):
        arrangement.put(
            pa.RecordBatch.from_pydict({"key": range(10**6 + epoch * 100, 10**6 + epoch * 100 + 100)})
        )
        before = shelf.rows
        arrangement.changes()
        merged.append(shelf.rows - before)
    assert max(merged) <= 2_000
    assert sum(merged) > 20_000


def test_rows_that_are_dropped_while_levels_merge_do_not_come_back() -> None:
    layout = Layout(pa.schema([("time", pa.int64()), ("key", pa.int64())]), ("key",), leading="time")
    arrangement = Arrangement(layout, chunk_rows=100)
    for start, count in ((0, 4_000), (4_000, 2_000), (6_000, 2_100)):
        times = np.arange(count) % 20
        arrangement.put(pa.RecordBatch.from_pydict({"time": times, "key": range(start, start + count)}))
        arrangement.changes()
    for limit in range(15):
        arrangement.put(pa.RecordBatch.from_pydict({"time": [19] * 10, "key": range(10)}))
        arrangement.changes()
        assert len(arrangement.committed().merges) == 1
        arrangement.drop_up_to(limit)
        assert not arrangement.up_to(limit).num_rows
    arrangement.settle()
    assert arrangement.up_to(14).num_rows == 0
    assert max(arrangement.level_sizes()) == 8_100 // 4


def test_dropping_is_one_mark_if_there_is_anything() -> None:
    layout = Layout(pa.schema([("time", pa.int64()), ("key", pa.int64())]), ("key",), leading="time")
    arrangement = Arrangement(layout, chunk_rows=64)
    arrangement.put(pa.RecordBatch.from_pydict({"time": np.arange(1_000) // 100, "key": range(1_000)}))
    arrangement.changes()
    arrangement.drop_up_to(3)
    arrangement.drop_up_to(4)
    arrangement.put(pa.RecordBatch.from_pydict({"time": [4], "key": [7]}))
    changes = arrangement.changes()
    assert changes.drops == (Drop(4),)
    assert rows_of(changes.level) == 1
    assert arrangement.up_to(5).num_rows == 101
    assert sum(arrangement.level_sizes()) == 501
    arrangement.drop_up_to(3)
    assert not arrangement.changes()
    with pytest.raises(ValueError, match="leading"):
        Arrangement(Layout(ROWS, KEYS)).drop_up_to(1)


@pytest.mark.parametrize("settled", [True, False])
def test_a_key_of_many_rows_has_chunks_of_the_usual_size(settled: bool) -> None:
    arrangement = Arrangement(Layout(ROWS, ("name",), Kind.MULTISET), chunk_rows=100)
    kept: list[int] = []
    for epoch in range(40):
        values = list(range(epoch * 60, epoch * 60 + 60))
        rows = [{"time": 1, "name": "hot", "number": 1.0, "value": value} for value in values]
        gone = [{**rows[0], "value": value} for value in kept[::7]]
        kept = [value for place, value in enumerate(kept) if place % 7] + values
        arrangement.put(pa.RecordBatch.from_pylist(rows, ROWS))
        arrangement.delete(pa.RecordBatch.from_pylist(gone, ROWS))
        arrangement.changes()
        if settled:
            arrangement.settle()
    form = arrangement.committed()
    assert max(len(chunk) for level in form.levels for chunk in level) <= 150
    assert all(len(level) <= 1 + sum(map(len, level)) / 40 for level in form.levels)
    key = pa.RecordBatch.from_pydict({"name": ["hot"]})
    for parts in ([arrangement.of(key)], [*arrangement.in_parts(key, 50)]):
        found = [value for part in parts for value in part.rows.column("value").to_pylist()]
        assert sorted(found) == sorted(kept)
