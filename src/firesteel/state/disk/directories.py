"""The identity of the working copy in a directory, and when the copy must be discarded.

A file next to LMDB's own records the lineage, the key groups, the layout and the boot of the machine. If it differs,
the copy is discarded. A lock on the directory makes processes that open a copy at the same time agree. A process that
still has a discarded copy open continues with the unlinked files, which is safe.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from firesteel.state.disk.scratch import unwritable

DATA_FILE: Final = "data.mdb"
_LOCK_FILE: Final = "lock.mdb"
_IDENTITY_FILE: Final = "identity.json"
_FILTERS: Final = "*.keys"
_LAYOUT: Final = 2


class Identity(msgspec.Struct, frozen=True):
    """The state that a working copy holds: one history of epochs, and a range of key groups (both ends inclusive)."""

    lineage: str
    first_group: int
    last_group: int


@contextmanager
def claimed(directory: Path, identity: Identity) -> Iterator[None]:
    """Lock a directory, create it if needed, and discard its contents unless they are a copy of this identity."""
    try:
        descriptor = _locked(directory, identity)
    except OSError as error:
        raise unwritable(f"the working copy {directory}", "cannot be made", error) from error
    try:
        yield
    finally:
        os.close(descriptor)


def discard(directory: Path) -> None:
    """Remove the copy in a directory."""
    for path in (directory / DATA_FILE, directory / _LOCK_FILE, *filter_files(directory)):
        path.unlink(missing_ok=True)


def filter_files(directory: Path) -> list[Path]:
    """Return the files of key filters in a directory."""
    return list(directory.glob(_FILTERS))


def _locked(directory: Path, identity: Identity) -> int:
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _settle(directory, identity)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _settle(directory: Path, identity: Identity) -> None:
    wanted = msgspec.json.encode({"identity": identity, "layout": _LAYOUT, "boot": boot_id()})
    path = directory / _IDENTITY_FILE
    if path.exists() and path.read_bytes() == wanted:
        return
    discard(directory)
    draft = path.with_suffix(".new")
    draft.write_bytes(wanted)
    draft.replace(path)


@cache
def boot_id() -> str:
    """Return an id of this boot; if it is unknown, each process has its own id and creates the copy again."""
    path = Path("/proc/sys/kernel/random/boot_id")
    if path.exists():
        return path.read_text().strip()
    try:  # macOS
        command = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return uuid.uuid4().hex
