"""Up to which epoch a job's output is visible."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import StateCorruptedError
from firesteel.state.storage import NotFound, Storage

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
        raise StateCorruptedError(
            "must be the number of an epoch",
            who=f"{storage.url.rstrip('/')}/{PUBLISHED}",
            got=repr(data[:40]),
            hint="the file was damaged after it was written; restore it from a backup",
        )
    return int(data)
