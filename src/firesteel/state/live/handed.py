"""Files beside a working copy in which processes of this machine hand over what an epoch changed in their caches.

Contract: a file takes the state of a subtask from one version (`StateVersion`) to the next. The versions are named in
it, and a version's name includes the attempt that wrote its run. So a process that follows the files from the committed
version back to its own has found exactly the committed history, whatever other attempts have left there. A file is
complete when its epoch is committed. A missing file is no error: the cache is dropped.

The files are marshalled, because all processes of a job run the same Python, and nothing else reads objects as fast.
They are written and read in parts, so that the bytes of all changes are never in memory together.
"""

from __future__ import annotations

import logging
import marshal
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, Final

from firesteel.state.live.durable import StateVersion
from firesteel.state.live.handover import Changed

MOST_MISSED: Final = 8
"""The number of epochs that a cache may have missed: to take over more would cost as much as to read values again."""

_KEPT: Final = 2 * MOST_MISSED
_SUFFIX: Final = ".changes"
_NO_REFERENCES: Final = 2
"""The version of marshal's format that does not look for objects that occur twice."""

_size: Final = struct.Struct(">H")
_part_size: Final = struct.Struct(">Q")
_log = logging.getLogger(__name__)


class HandedOver:
    """One epoch's changes in a file; they are read when you iterate."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[Changed]:
        with self._path.open("rb") as file:
            _read_text(file)
            while size := file.read(_part_size.size):
                # marshal itself would read a file byte by byte
                yield Changed(*marshal.loads(file.read(*_part_size.unpack(size))))


def hand_over(directory: Path, before: StateVersion, after: StateVersion, changed: Iterable[Changed]) -> None:
    """Write the changes between two versions; remove old files now and then. An error of the disk is logged."""
    path = directory / _name(after)
    try:
        _write(path, _name(before).encode(), changed)
        if after.epoch % MOST_MISSED == 0:
            _remove_before(directory, after.epoch - _KEPT)
    except FileExistsError:  # another attempt has made the same step
        return
    except OSError as error:
        with suppress(OSError):  # the same one, if there is no file
            path.unlink(missing_ok=True)
        _log.warning("caches cannot be handed over in %s: %s", directory, error)


def missed(directory: Path, since: StateVersion, until: StateVersion) -> list[HandedOver] | None:
    """Return the steps from version `since` to `until`, in order; None if they are unknown or too many."""
    if since == until:
        return []
    if since.lineage != until.lineage or not 0 < until.epoch - since.epoch <= MOST_MISSED:
        return None
    steps: list[HandedOver] = []
    name, first = _name(until), _name(since)
    for _ in range(until.epoch - since.epoch):
        path = directory / name
        try:
            name = _read_before(path)
        except (FileNotFoundError, struct.error):  # struct.error: an attempt was killed while it wrote
            return None
        steps.append(HandedOver(path))
    return steps[::-1] if name == first else None


def _write(path: Path, before: bytes, changed: Iterable[Changed]) -> None:
    try:
        file = path.open("xb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb")
    with file:
        file.write(_size.pack(len(before)) + before)
        for part in changed:
            data = marshal.dumps(tuple(part), _NO_REFERENCES)
            file.write(_part_size.pack(len(data)))
            file.write(data)


def _read_before(path: Path) -> str:
    """Return the name of the file before this one."""
    with path.open("rb") as file:
        return _read_text(file)


def _read_text(file: IO[bytes]) -> str:
    (size,) = _size.unpack(file.read(_size.size))
    return file.read(size).decode()


def _name(version: StateVersion) -> str:
    """Return the name of the file that leads to a version."""
    if version.run is None:
        return f"{version.epoch:012d}-{version.subtask:05d}-none{_SUFFIX}"
    return PurePosixPath(version.run.path).stem + _SUFFIX


def _remove_before(directory: Path, epoch: int) -> None:
    for path in directory.glob("*" + _SUFFIX):
        if int(path.name[:12]) < epoch:
            path.unlink(missing_ok=True)
