"""The last epoch of a job whose output is visible."""

from __future__ import annotations

from typing import Final

from firesteel.checkpoint.documents import damaged_error
from firesteel.checkpoint.objects import NotFound, Storage

PUBLISHED: Final = "published"


def published_epoch(storage: Storage) -> int:
    """Return the last epoch whose committables are committed, as recorded in a state directory; 0 before the first.

    Raises StateCorruptedError if the record is not a number.
    """
    try:
        data = storage.get(PUBLISHED)
    except NotFound:
        return 0
    if not data.isdigit():
        raise damaged_error(storage, PUBLISHED, repr(data[:40]), requirement="must be the number of an epoch")
    return int(data)
