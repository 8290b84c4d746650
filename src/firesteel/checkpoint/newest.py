"""The newest entry of each key in several layers, read in the order of keys.

The runs are read side by side, about 1 MiB of each at a time. So memory depends on the number of runs, and neither on
the size of the state nor on how well it is compressed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.checkpoint.fetching import fetching_ahead
from firesteel.checkpoint.manifest import Layer
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import LayerEntries, runs_within
from firesteel.checkpoint.runs import RUN_SCHEMA

_READ_TOGETHER: Final = 1 << 20
"""Bytes that are read of a run at a time, in whole batches."""
_RANK: Final = "rank"
_RANKED: Final = RUN_SCHEMA.append(pa.field(_RANK, pa.int32()))


def newest_entries(
    storage: Storage, layers: Sequence[Layer], groups: tuple[int, int], prefixes: Sequence[bytes] = (b"",)
) -> Iterator[pa.Table]:
    """Yield the newest entry of each composite key of a range of key groups, in the order of keys, part by part.

    `layers` are oldest first; deletes are null values. `prefixes` limit it to the entries whose key starts with one
    of them. Raises StateCorruptedError, which names the run, if one is missing or damaged.
    """
    with fetching_ahead(storage, runs_within(layers, groups)) as source:
        runs = [
            _Run(rank, batches, prefixes)
            for rank, layer in enumerate(layers)
            for batches in LayerEntries(source, layer, groups).runs()
        ]
        while runs := [run for run in runs if run.fill()]:
            end = min(run.last for run in runs)
            parts = [part for run in runs if (part := run.up_to(end)).num_rows]
            yield _newest(pa.Table.from_batches(parts, _RANKED), len(parts) > 1)


class _Run:
    """A run of a layer, read part by part; call `fill` before anything else."""

    def __init__(self, rank: int, batches: Iterator[pa.RecordBatch], prefixes: Sequence[bytes]) -> None:
        self._rank = rank
        self._batches = batches
        self._prefixes = prefixes
        self._head = pa.RecordBatch.from_pylist([], RUN_SCHEMA)

    def fill(self) -> bool:
        """Have at least one entry; return False if there are no more."""
        if not self._head.num_rows:
            held: list[pa.RecordBatch] = []
            while sum(batch.nbytes for batch in held) < _READ_TOGETHER:
                batch = next(self._batches, None)
                if batch is None:
                    break
                held.append(_beginning(batch, self._prefixes))
            if held:
                self._head = pa.concat_batches(held)
        return bool(self._head.num_rows)

    @property
    def last(self) -> bytes:
        """The key of the last entry that it has."""
        return self._key(self._head.num_rows - 1)

    def up_to(self, key: bytes) -> pa.RecordBatch:
        """Take the entries up to a key, this one included."""
        count = bisect_right(range(self._head.num_rows), key, key=self._key)
        taken, self._head = self._head.slice(0, count), self._head.slice(count)
        return taken.append_column(_RANK, pa.array([self._rank] * count, pa.int32()))

    def _key(self, place: int) -> bytes:
        key: bytes = self._head.column(0)[place].as_py()
        return key


def _beginning(batch: pa.RecordBatch, prefixes: Sequence[bytes]) -> pa.RecordBatch:
    """Return the entries whose key starts with one of the prefixes."""
    if b"" in prefixes:
        return batch
    masks = [pc.starts_with(batch.column(0), prefix) for prefix in prefixes]
    return batch.filter(reduce(pc.or_, masks, pa.array([False] * batch.num_rows, pa.bool_())))


def _newest(table: pa.Table, several: bool) -> pa.Table:
    """Return the entry with the highest rank of each key, in the order of keys; `several`: of more than one run."""
    if several:
        order = pc.sort_indices(table, sort_keys=[("key", "ascending"), (_RANK, "descending")])
        table = table.take(order).combine_chunks()
        keys = table.column(0)
        other = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1))
        table = table.filter(pa.chunked_array([pa.array([True]), *other.chunks]))
    return table.drop_columns(_RANK)
