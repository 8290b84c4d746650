"""Output that sinks prepared and not published yet, beside the checkpoints (`firesteel.functions.sink.OutputStore`).

An object is named ``outputs/<operator>/<epoch>-...``. A manifest refers to it by a committable. When the epoch is
published the committer removes it, and what a crash has left goes with the next collection of garbage.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from xxhash import xxh3_64_hexdigest

from firesteel.checkpoint.documents import damaged_error
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.errors import StateError
from firesteel.common.stored_output import StoredOutput

OUTPUTS: Final = "outputs"

_log = logging.getLogger("firesteel.checkpoint")


class StoredOutputs:
    """The output of a job's sinks in its state directory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     outputs = StoredOutputs(Storage.of(directory))
    ...     stored = outputs.put("sink/000000000007-00000-a", b"records")
    ...     stored.size, outputs.get(stored)
    (7, b'records')
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def put(self, name: str, data: bytes) -> StoredOutput:
        """Store data durably. Raises StateError if the storage fails."""
        self._storage.put(_path(name), data)
        return StoredOutput(name, len(data), xxh3_64_hexdigest(data))

    def get(self, stored: StoredOutput) -> bytes:
        """Return the data. Raises StateCorruptedError if it is missing or damaged."""
        path = _path(stored.name)
        try:
            data = self._storage.get(path)
        except NotFound:
            raise damaged_error(self._storage, path, "no file of this name") from None
        if len(data) != stored.size or xxh3_64_hexdigest(data) != stored.checksum:
            raise damaged_error(self._storage, path, f"{len(data)} bytes with another checksum")
        return data

    def remove(self, stored: Iterable[StoredOutput]) -> None:
        """Remove data of a published epoch; what cannot be removed now goes with the next collection of garbage."""
        try:
            self._storage.delete_all([_path(output.name) for output in stored])
        except StateError as error:
            _log.warning("published output is removed later: %s", error)


def _path(name: str) -> str:
    return f"{OUTPUTS}/{name}"
