"""A parallelism that a running job was given, and that is to outlast its driver."""

from __future__ import annotations

from typing import Final

import msgspec

from firesteel.checkpoint.documents import read_document, write_document
from firesteel.checkpoint.objects import NotFound, Storage

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


def kept_parallelism(location: str, asked: int) -> int:
    """Return the parallelism with which a driver that was asked for `asked` starts the job in a state directory.

    It differs from `asked` only if a rescale is to last over restarts and the job was asked for the same parallelism
    then. If it is started with another one, that counts, and the rescale is forgotten. A missing directory is not made.
    """
    try:
        storage = Storage.existing(location)
    except NotFound:
        return asked
    kept = read_document(storage, _FILE, _Kept)
    if kept is None:
        return asked
    if kept.instead_of != asked:
        storage.delete(_FILE)
        return asked
    return kept.parallelism
