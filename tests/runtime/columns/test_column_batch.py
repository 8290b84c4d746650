"""Batches of columns keep the contract of batches, and go through routers and blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.types import RowKind
from firesteel.runtime.blocks import decode_block, encode_block
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.keying import KeyColumnsEdge
from firesteel.runtime.outbox import Outbox
from firesteel.runtime.plan import Distribution, EdgeSpec
from firesteel.runtime.routing import BLOCK_BYTES, make_router
from firesteel.state.arrangements.hashing import hash_columns, key_groups
from firesteel.state.keys.groups import key_group_range

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
Change = tuple[int | None, str | None, int]

changes = st.lists(
    st.tuples(st.none() | st.integers(-5, 5), st.none() | st.text(max_size=3), st.integers(0, 3)), max_size=30
)


def batch_of(given: list[Change]) -> ColumnBatch:
    columns = [pa.array([change[at] for change in given], kind) for at, kind in enumerate(SCHEMA.types)]
    rows = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    kinds = np.array([change[2] for change in given], np.int8)
    return ColumnBatch(rows, kinds if kinds.any() else None)


def changes_in(batch: ColumnBatch) -> list[Change]:
    a, b = (column.to_pylist() for column in batch.rows.columns)
    return list(zip(a, b, batch.all_kinds().tolist(), strict=True))


@given(changes, st.data())
def test_a_batch_is_a_list_of_changes(given: list[Change], data: st.DataObject) -> None:
    batch = batch_of(given)
    assert len(batch) == len(given)
    assert changes_in(batch.copy()) == given
    start, stop, step = data.draw(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 3)))
    start, stop = min(start, len(given)), min(stop, len(given))
    assert changes_in(batch.slice(start, stop, step)) == given[start:stop:step]
    positions = data.draw(st.lists(st.integers(0, len(given) - 1))) if given else []
    assert changes_in(batch.take(positions)) == [given[at] for at in positions]
    assert changes_in(batch.joined([batch.slice(start, stop)])) == given + given[start:stop]


@given(changes)
def test_encoding_is_reversible(given: list[Change]) -> None:
    block = encode_block(batch_of(given), [(len(given), 7)])
    batch, marks = decode_block(block)
    assert isinstance(batch, ColumnBatch)
    assert changes_in(batch) == given
    assert marks == [(len(given), 7)]


@given(changes, st.data())
def test_slices_travel_without_the_rest(given: list[Change], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(given)))
    batch, _ = decode_block(encode_block(batch_of(given).slice(start, len(given)), []))
    assert isinstance(batch, ColumnBatch)
    assert changes_in(batch) == given[start:]
    large = ColumnBatch(pa.RecordBatch.from_pydict({"a": np.arange(100_000)}))
    assert len(encode_block(large.slice(5, 10), [])) < 1_000


@given(changes, st.integers(1, 5), st.data())
def test_scatter_gives_each_target_its_rows_in_order(
    given: list[Change], count: int, data: st.DataObject
) -> None:
    targets = data.draw(st.lists(st.integers(0, count - 1), min_size=len(given), max_size=len(given)))
    parts = batch_of(given).scatter(np.array(targets, np.int64), count)
    expected = {
        target: [change for change, at in zip(given, targets, strict=True) if at == target]
        for target in targets
    }
    assert {target: changes_in(part) for target, part in parts} == expected


def test_signs_follow_the_kinds() -> None:
    kinds = [RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE]
    batch = batch_of([(1, "x", kind.value) for kind in kinds])
    assert batch.signs().tolist() == [1, -1, 1, -1]
    assert batch.slice(0, 1).signs().tolist() == [1]
    assert ColumnBatch(batch.rows).signs().tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("targets", [1, 2, 3, 7])
def test_an_exchange_by_columns_delivers_every_row_to_the_owner_of_its_key_group(targets: int) -> None:
    edge = EdgeSpec(0, 0, 1, 0, Distribution.HASH, 1, targets, 128, False, "an edge")
    outbox = Outbox()
    router = make_router(edge, 0, outbox, KeyColumnsEdge(("b",), targets, 128), 1)
    rows = pa.RecordBatch.from_pydict(
        {"a": np.arange(200_000), "b": [f"key {number % 1_000}" for number in range(200_000)]}, schema=SCHEMA
    )
    router.receive(ColumnBatch(rows))
    router.receive_watermark(5)
    router.flush()
    received: dict[int, list[Any]] = {}
    sizes = []
    for target, _, _, _, block in outbox.drain():
        batch, _ = decode_block(block)
        if batch is None:  # the watermark alone
            continue
        assert isinstance(batch, ColumnBatch)
        sizes.append(len(block))
        received.setdefault(target, []).extend(batch.rows["a"].to_pylist())
        groups = key_groups(hash_columns([batch.rows["b"]]), 128)
        assert targets == 1 or set(groups.tolist()) <= set(key_group_range(target, targets, 128))
    assert sorted(number for part in received.values() for number in part) == list(range(200_000))
    assert all(part == sorted(part) for part in received.values())
    assert max(sizes) <= BLOCK_BYTES
    assert len(sizes) <= 20 * targets


@pytest.mark.parametrize("marks", [[], [(1, 5)], [(1, 5), (2, 1 << 40)], [(1, None), (2, -7), (3, 1)]])
def test_columns_of_a_block_are_aligned(marks: list[tuple[int, int | None]]) -> None:
    rows = pa.RecordBatch.from_pydict({"n": pa.array([1, 2, 3]), "t": pa.array(["a", "bc", None])})
    batch, arrived = decode_block(encode_block(ColumnBatch(rows, np.array([0, 1, 2], np.int8)), marks))
    assert isinstance(batch, ColumnBatch)
    assert arrived == marks
    buffers = [buffer for column in batch.rows.columns for buffer in column.buffers() if buffer is not None]
    assert [buffer.address % 8 for buffer in buffers] == [0] * len(buffers)
    assert batch.rows == rows
