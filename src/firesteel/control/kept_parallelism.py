"""A parallelism that a running job was given, and that is to outlast its driver."""

from __future__ import annotations

from typing import Final

import msgspec

from firesteel.checkpoint.documents import read_document, write_document
from firesteel.checkpoint.objects import Storage

_FILE: Final = "parallelism.json"


class _Kept(msgspec.Struct, frozen=True):
    """Starts that ask for `instead_of` run at `parallelism`."""

    parallelism: int
    instead_of: int


def keep_parallelism(storage: Storage, started_at: int, parallelism: int) -> None:
    """Have drivers that are started as this one was, which began at `started_at`, begin at `parallelism`."""
    before = read_document(storage, _FILE, _Kept)
    asked = before.instead_of if before is not None and before.parallelism == started_at else started_at
    write_document(storage, _FILE, _Kept(parallelism, asked))


def kept_parallelism(storage: Storage, asked: int) -> int:
    """Return the parallelism a driver that is asked for `asked` begins at.

    It is another only if that was to be kept, by a driver that had been asked for the same: who starts the job with a
    new parallelism gets that, and what was kept is forgotten.
    """
    kept = read_document(storage, _FILE, _Kept)
    if kept is None:
        return asked
    if kept.instead_of != asked:
        storage.delete(_FILE)
        return asked
    return kept.parallelism
