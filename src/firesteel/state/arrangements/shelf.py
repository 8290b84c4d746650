"""Where chunks of arrangements are kept: small ones in memory, large ones in files that are mapped.

The pages of a mapped file belong to the operating system's page cache: they are read when they are needed, and take no
memory that anything else needs. So the state of a subtask can be larger than memory.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import pyarrow as pa

from firesteel.state.disk.scratch import local_directory, unwritable

IN_MEMORY: Final = 1 << 18
"""The most bytes of a chunk that stays in memory. A mapped one costs two system calls and some 100 µs more."""


class MappedFiles:
    """Keeps chunks of more than `in_memory` bytes in files on this machine's disk.

    The files have no names, so nothing is left behind: their space is free when no chunk refers to them, and when the
    process ends, however it ends. Raises StateError if the disk cannot be written.

    >>> shelf = MappedFiles(in_memory=100)
    >>> shelf.keep(pa.RecordBatch.from_pydict({"a": range(1000)})).num_rows
    1000
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory

    def keep(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the same rows, wherever they are kept."""
        if batch.nbytes <= self._in_memory:
            return batch
        directory = local_directory()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(prefix="firesteel-chunk-", dir=directory) as file:
                return _mapped(batch, Path(file.name))
        except OSError as error:
            raise unwritable(
                f"a part of an arrangement in {directory}", "cannot be written", error
            ) from error


def _mapped(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).get_batch(0)
