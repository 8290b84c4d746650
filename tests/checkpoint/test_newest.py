"""The newest entries of layers beside a dict, and the memory that a merge of them takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.checkpoint import newest, runs
from firesteel.checkpoint.compaction import merge, merge_tasks
from firesteel.checkpoint.manifest import Layer
from firesteel.checkpoint.newest import newest_entries
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import entries_of, read_run, write_run
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import Entry

GROUPS = 4
MIB = 1 << 20


def key_of(state: int, group: int, key: int) -> bytes:
    return state.to_bytes(2, "big") + group.to_bytes(2, "big") + key.to_bytes(2, "big")


def written(storage: Storage, epoch: int, entries: list[Entry], groups: range = range(GROUPS)) -> RunRef:
    path = f"runs/a/{epoch:012d}-{groups.start}.run"
    first, last = groups.start, groups.stop - 1
    run = write_run(
        storage, path, entries, epoch=epoch, operator="a", subtask=0, first_group=first, last_group=last
    )
    assert run is not None
    return run


def layer_of(storage: Storage, epoch: int, entries: dict[bytes, bytes | None], parallelism: int) -> Layer:
    """A layer with a run for each subtask that has changes."""
    size = GROUPS // parallelism
    found = []
    for groups in (range(start, start + size) for start in range(0, GROUPS, size)):
        mine = sorted(entry for entry in entries.items() if int.from_bytes(entry[0][2:4], "big") in groups)
        if mine:
            found.append(written(storage, epoch, mine, groups))
    return Layer(epoch, epoch, False, found)


KEYS = st.builds(key_of, st.integers(0, 1), st.integers(0, GROUPS - 1), st.integers(0, 20))
LAYERS = st.lists(
    st.tuples(
        st.dictionaries(KEYS, st.none() | st.binary(max_size=3), max_size=30), st.sampled_from([1, 2, 4])
    ),
    max_size=6,
)


@given(LAYERS, st.integers(1, 20), st.booleans())
def test_they_are_those_of_a_dict_in_order(layers, batch_bytes, of_one_state):
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_BATCH_BYTES", batch_bytes)
        patch.setattr(newest, "_READ_TOGETHER", batch_bytes)
        storage = Storage.of(directory)
        written_layers = [layer_of(storage, epoch, *layer) for epoch, layer in enumerate(layers, 1)]
        prefixes = (b"\0\1",) if of_one_state else (b"",)
        tables = newest_entries(storage, written_layers, (1, GROUPS - 1), prefixes)
        found = [*chain.from_iterable(map(entries_of, chain.from_iterable(map(pa.Table.to_batches, tables))))]
    last = dict(chain.from_iterable(entries.items() for entries, _ in layers))
    wanted = [
        (key, value)
        for key, value in sorted(last.items())
        if key[3] >= 1 and (key[1] == 1 or not of_one_state)
    ]
    assert found == wanted


@contextmanager
def watched_memory() -> Iterator[pa.MemoryPool]:
    """Arrow's memory, with a high-water mark of its own."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(before)


def test_a_merge_of_what_compresses_well_takes_little_memory(tmp_path: Path) -> None:
    storage = Storage.of(str(tmp_path))
    keys = [key_of(0, number % GROUPS, number // GROUPS) for number in range(4096)]
    layers = [
        Layer(epoch, epoch, False, [written(storage, epoch, [(key, bytes(16_384)) for key in sorted(keys)])])
        for epoch in (1, 2)
    ]
    assert sum(layer.size for layer in layers) < MIB
    [task] = merge_tasks("a", layers, 2, max_parallelism=GROUPS, parallelism=1, epoch=3, now=0)
    with watched_memory() as pool:
        merged = merge(storage, task)
    assert merged is not None
    assert pool.max_memory() < 16 * MIB < 2 * 4096 * 16_384
    assert sum(1 for _ in read_run(storage, merged)) == len(keys)


def test_batches_are_neither_tiny_nor_large(tmp_path: Path) -> None:
    parts = [
        pa.table({"key": [b"k"] * 10, "value": [bytes(size)] * 10}, runs.RUN_SCHEMA) for size in (1,) * 100
    ]
    large = pa.table({"key": [b"k"] * 10, "value": [bytes(MIB // 4)] * 10}, runs.RUN_SCHEMA)
    sizes = [batch.num_rows for batch in runs.batches_of([*parts, large, *parts[:3]])]
    assert sum(sizes) == 1040
    assert len(sizes) < 8
    assert max(batch.nbytes for batch in runs.batches_of([large] * 3)) <= MIB
