"""A parallelism that was set while the job ran, and that survives its driver."""

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
    """Make drivers that are started like this one, which began at `started_at`, begin at `parallelism`."""
    before = read_document(storage, _FILE, _Kept)
    asked = before.instead_of if before is not None and before.parallelism == started_at else started_at
    write_document(storage, _FILE, _Kept(parallelism, asked))


def kept_parallelism(storage: Storage, asked: int) -> int:
    """Return the parallelism with which a driver that was asked for `asked` starts the job in a state directory.

    It differs from `asked` only if a kept rescale replaced that same parallelism. If you start the job with another
    one, that counts, and the rescale is forgotten.
    """
    kept = read_document(storage, _FILE, _Kept)
    if kept is None:
        return asked
    if kept.instead_of != asked:
        storage.delete(_FILE)
        return asked
    return kept.parallelism
