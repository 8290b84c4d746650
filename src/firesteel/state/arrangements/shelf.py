"""Where chunks of arrangements are kept: small ones in memory, large ones in files that are mapped.

The pages of a mapped file belong to the operating system's page cache: they are read when they are needed, and take no
memory that anything else needs. So the state of a subtask can be larger than memory.
"""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Final

import pyarrow as pa

from firesteel.state.arrangements.chunk import Kept, Place
from firesteel.state.disk.scratch import local_directory, unwritable

IN_MEMORY: Final = 1 << 18
"""The most bytes of a chunk that stays in memory. A mapped one costs two system calls and some 100 µs more."""

CHUNK_FILE: Final = ".chunk"
"""The suffix of files that processes share."""


class MappedFiles:
    """Keeps chunks of more than `in_memory` bytes in files on this machine's disk.

    The files have no names, so nothing is left behind: their space is free when no chunk refers to them, and when the
    process ends, however it ends. If processes share them (`share`), they have names; see `shared`. Raises StateError
    if the disk cannot be written.

    >>> files = MappedFiles(in_memory=100)
    >>> files.keep(pa.RecordBatch.from_pydict({"a": range(1000)})).rows.num_rows
    1000
    """

    def __init__(self, in_memory: int | None = None) -> None:
        self.in_memory = IN_MEMORY if in_memory is None else in_memory
        self.directory: Path | None = None
        self._prefix = ""

    def share(self, directory: Path | None, epoch: int) -> None:
        """Keep the chunks of an epoch in a directory, where other processes find them (None: for this one alone)."""
        self.directory = directory
        self._prefix = epoch_prefix(epoch)

    def keep(self, batch: pa.RecordBatch) -> Kept:
        """Return the same rows, wherever they are kept."""
        if batch.nbytes <= self.in_memory:
            return Kept(batch)
        directory = self.directory or local_directory()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if self.directory is not None:
                name = f"{self._prefix}-{uuid.uuid4().hex}{CHUNK_FILE}"
                return Kept(_mapped(batch, directory / name), Place(name, 0))
            with tempfile.NamedTemporaryFile(prefix="firesteel-chunk-", dir=directory) as file:
                return Kept(_mapped(batch, Path(file.name)))
        except OSError as error:
            raise unwritable(
                f"a part of an arrangement in {directory}", "cannot be written", error
            ) from error


def epoch_prefix(epoch: int) -> str:
    """Return what the names of an epoch's files begin with; names are in the order of epochs."""
    return f"{epoch:012d}"


def read_mapped(path: Path) -> pa.RecordBatch:
    """Return the rows in a file. Raises FileNotFoundError if it is gone."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).get_batch(0)


def _mapped(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return read_mapped(path)
