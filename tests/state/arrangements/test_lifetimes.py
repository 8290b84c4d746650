"""Rows of arrangements with a time to live."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.layout import Kind, Layout

moves = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 1),
        st.sampled_from([1, 1, -1]),
        st.sampled_from(["", "commit", "commit", "settle"]),
    ),
    min_size=5,
    max_size=25,
)


@pytest.mark.parametrize("kind", Kind)
@given(moves)
@settings(max_examples=100)
def test_a_few_rows_live_as_long_as_they_should(kind: Kind, moves: list[tuple[int, int, int, str]]) -> None:
    layout = Layout(pa.schema([("key", pa.int64())]), ("key",), kind, time_to_live=3)
    arrangement, copy = Arrangement(layout), Arrangement(layout)
    both = pa.RecordBatch.from_pydict({"key": [0, 1]})
    counts, written, now = [0, 0], [0, 0], 0
    for pause, key, weight, then in moves:
        if pause:
            copy.load(arrangement.changes())
        now += pause
        arrangement.advance(now)
        alive = [count if now < last + 3 else 0 for count, last in zip(counts, written, strict=True)]
        if kind is Kind.UPSERT or alive[key] + weight >= 0:
            counts = alive
            counts[key] = max(weight, 0) if kind is Kind.UPSERT else counts[key] + weight
            written[key] = now
            arrangement.change(both.slice(key, 1), np.array([weight]))
        if then:
            copy.load(arrangement.changes())
        if then == "settle":
            arrangement.settle()
        shown = arrangement.of(both)
        weights = dict(zip(shown.keys.tolist(), shown.weights.tolist(), strict=True))
        assert [weights.get(place, 0) for place in (0, 1)] == [
            count if now < last + 3 else 0 for count, last in zip(counts, written, strict=True)
        ]
        if then:
            copy.advance(now)
            again = copy.of(both)
            assert dict(zip(again.keys.tolist(), again.weights.tolist(), strict=True)) == weights


@pytest.mark.parametrize("pause", [2, 3, 4])
@pytest.mark.parametrize("settled", [True, False])
def test_a_row_that_comes_back_after_its_life_counts_from_zero(pause: int, settled: bool) -> None:
    layout = Layout(pa.schema([("key", pa.int64())]), ("key",), Kind.MULTISET, time_to_live=3)
    arrangement, row = Arrangement(layout), pa.RecordBatch.from_pydict({"key": [7]})
    for now in (10, 10 + pause, 10 + pause, 12 + pause):
        arrangement.advance(now)
        arrangement.put(row)
        arrangement.changes()
        if settled:
            arrangement.settle()
    assert arrangement.of(row).weights.tolist() == [4 if pause < 3 else 3]
    arrangement.advance(12 + pause + 3)
    assert not len(arrangement.of(row).weights)


@pytest.mark.parametrize("kind", Kind)
def test_rows_that_have_expired_vanish_from_levels(kind: Kind) -> None:
    layout = Layout(pa.schema([("key", pa.int64())]), ("key",), kind, time_to_live=1_000)
    arrangement = Arrangement(layout, chunk_rows=64)
    for epoch in range(300):
        arrangement.advance(100 * epoch)
        arrangement.put(pa.RecordBatch.from_pydict({"key": range(epoch * 50, epoch * 50 + 50)}))
        arrangement.changes()
    assert sum(arrangement.level_sizes()) <= 3 * 50 * 10
    arrangement.advance(100 * 299 + 999)
    assert sum(batch.num_rows for batch in arrangement.rows()) == 50
    arrangement.advance(100 * 299 + 1_000)
    assert arrangement.level_sizes() == []
