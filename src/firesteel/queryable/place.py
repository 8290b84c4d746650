"""A directory for the copies of one reader, which goes away with it, however it ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from pathlib import Path
from typing import Final

from firesteel.state.disk.copy import release_working_stores
from firesteel.state.disk.root import work_root
from firesteel.state.disk.scratch import unwritable

_PREFIX: Final = "reads-"
_LOCK: Final = "reader.lock"


class ReadingPlace:
    """A new directory below `work_root`, locked for as long as this process lives.

    Making one removes those whose readers were killed. Raises StateError if the disk cannot be written.
    """

    def __init__(self) -> None:
        root = work_root()
        _sweep(root)
        self.path = root / f"{_PREFIX}{uuid.uuid4().hex}"
        try:
            self.path.mkdir(mode=0o700)
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise unwritable(f"the directory {self.path}", "cannot be made", error) from error

    def fresh(self) -> Path:
        """Return a new name in it."""
        return self.path / uuid.uuid4().hex

    def discard(self, directory: Path) -> None:
        """Remove a copy; snapshots of it stay readable."""
        release_working_stores(directory)
        shutil.rmtree(directory, ignore_errors=True)

    def close(self) -> None:
        """Remove all copies."""
        self.discard(self.path)
        os.close(self._lock)


def _sweep(root: Path) -> None:
    for path in root.glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:  # its reader has just closed
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            shutil.rmtree(path.parent, ignore_errors=True)
        finally:
            os.close(descriptor)
