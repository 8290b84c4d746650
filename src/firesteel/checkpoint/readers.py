"""Reading a job's state while the job runs: an epoch that is read is kept, with all its files, for a while.

A reader writes a small file, whose name says which epoch it reads and until when. The job looks at these names before
it lets go of an epoch. A reader that dies holds its epoch back until that time, and no longer.
"""

from __future__ import annotations

import time
import uuid
from typing import Final

from firesteel.checkpoint.objects import Storage

_DIRECTORY: Final = "readers/"


def hold(storage: Storage, epoch: int, duration_ms: int) -> str:
    """Keep an epoch, which is one of the last, for some milliseconds; return the name by which `let_go` ends that.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     storage = Storage.of(directory)
    ...     name = hold(storage, 7, 60_000)
    ...     held, _ = oldest_read(storage, 12), let_go(storage, name)
    ...     held, oldest_read(storage, 12)
    (7, 12)
    """
    name = f"{_DIRECTORY}{epoch:012d}-{_now() + duration_ms:015d}-{uuid.uuid4().hex[:12]}"
    storage.put(name, b"")
    return name


def let_go(storage: Storage, name: str) -> None:
    """End what `hold` began."""
    storage.delete(name)


def oldest_read(storage: Storage, wanted: int) -> int:
    """Return the oldest epoch that somebody reads, at most `wanted`; remove the files of those whose time is over."""
    return min([wanted, *_epochs_read(storage)])


def is_read(storage: Storage) -> bool:
    """Whether somebody reads any epoch; remove the files of those whose time is over.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     storage = Storage.of(directory)
    ...     name = hold(storage, 7, 60_000)
    ...     held, _ = is_read(storage), let_go(storage, name)
    ...     held, is_read(storage)
    (True, False)
    """
    return bool(_epochs_read(storage))


def _epochs_read(storage: Storage) -> list[int]:
    now, epochs, over = _now(), [], []
    for name in storage.list(_DIRECTORY):
        epoch, until, _ = name.removeprefix(_DIRECTORY).split("-")
        if int(until) < now:
            over.append(name)
        else:
            epochs.append(int(epoch))
    storage.delete_all(over)
    return epochs


def _now() -> int:
    return int(time.time() * 1000)
