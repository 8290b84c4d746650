"""Up to which epoch a job's output is visible."""

from __future__ import annotations

from typing import Final

from firesteel.checkpoint.documents import damaged_error
from firesteel.checkpoint.objects import NotFound, Storage

PUBLISHED: Final = "published"


def published_epoch(storage: Storage) -> int:
    """Return the last epoch whose committables a state directory says are committed, 0 before the first.

    Raises StateCorruptedError if it says something else.
    """
    try:
        data = storage.get(PUBLISHED)
    except NotFound:
        return 0
    if not data.isdigit():
        raise damaged_error(storage, PUBLISHED, repr(data[:40]), requirement="must be the number of an epoch")
    return int(data)
