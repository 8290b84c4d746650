"""Rows of both sides of a join on the disk, dealt out by the hashes of their keys, for a side too large for memory.

Rows with equal keys are in one partition, so partitions are joined one after the other, and one of them is in memory at
a time. Source: Kitsuregawa, Tanaka, Moto-oka, Application of Hash to Data Base Machine and Its Architecture, 1983 (the
GRACE hash join); Flink's HybridHashTable does the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Final

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.joins import Join, Side
from firesteel.runtime.columns.batch import ColumnBatch, together
from firesteel.state.arrangements.hashing import hash_columns
from firesteel.state.disk.scratch import local_directory, unwritable

COUNT: Final = 32
"""Partitions of a subtask: a side may be so many times as large as what stays in memory."""

_BUFFERED: Final = 1 << 18
"""The bytes of a file's rows that wait to be written together."""

_SHIFT: Final = np.uint64(32)
"""The bits above tell the key group, those below the bucket of a row in its partition: neither deals out evenly."""


class Partitions:
    """The rows of both sides of a join with keys, in the partitions that their keys choose.

    Contract: `add` rows of either side in any order; then `each` yields, once for each partition that has rows, those
    of the side `build` and those of the other side; the latter are read as they are taken. Files have no names, so
    nothing is left behind. Raises StateError if the disk cannot be written.
    """

    def __init__(self, join: Join, build: Side) -> None:
        self._join = join
        self._build: Side = build
        self._files = [[_Rows() for _ in range(COUNT)] for _ in join.sides]

    def add(self, side: Side, rows: pa.RecordBatch) -> None:
        """Put each row of a side into its partition."""
        hashes = hash_columns([rows.column(place) for place in self._join.keys[side]])
        targets = ((hashes >> _SHIFT) & np.uint64(COUNT - 1)).astype(np.int64)
        for target, part in ColumnBatch(rows).scatter(targets, COUNT):
            self._files[side][target].add(part.rows)

    def each(self) -> Iterator[tuple[list[pa.RecordBatch], Iterator[pa.RecordBatch]]]:
        """Yield the rows of each partition."""
        probe = 1 - self._build
        for number in range(COUNT):
            built, met = self._files[self._build][number], self._files[probe][number]
            if built.count or met.count:
                yield list(built.taken()), met.taken()


class _Rows:
    """Rows of one side and partition: few of them in memory, the others in a file."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None

    def add(self, rows: pa.RecordBatch) -> None:
        self.count += rows.num_rows
        self._waiting.append(rows)
        self._bytes += rows.nbytes
        if self._bytes >= _BUFFERED:
            self._write(together(self._waiting))
            self._waiting, self._bytes = [], 0

    def taken(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows once; the file goes."""
        if self._file is not None and self._writer is not None:
            with self._file:
                self._writer.close()
                self._file.seek(0)
                yield from pa.ipc.open_stream(self._file)
        yield from self._waiting
        self._waiting = []

    def _write(self, rows: pa.RecordBatch) -> None:
        directory = local_directory()
        # Batches of one input may say differently of a column that it is never NULL; a file has one schema.
        schema = pa.schema([field.with_nullable(True) for field in rows.schema])
        try:
            if self._file is None:
                directory.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 - `taken` closes it
                self._writer = pa.ipc.new_stream(self._file, schema)
            assert self._writer is not None
            self._writer.write_batch(pa.RecordBatch.from_arrays(rows.columns, schema=schema))
        except OSError as error:
            raise unwritable(f"a side of a join in {directory}", "cannot be written", error) from error
