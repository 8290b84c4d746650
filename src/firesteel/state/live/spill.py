"""A file for an epoch's changes when memory cannot hold them; it lives as long as the epoch.

The file is an LMDB environment whose names are removed as soon as it is open. Nothing of it remains when the process
ends, no matter how it ends.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import lmdb

from firesteel.common.errors import StateError
from firesteel.state.disk.lmdb_file import (
    Snapshot,
    chunks,
    enlarge,
    no_room_error,
    open_environment,
    pages_in,
    write,
)
from firesteel.state.disk.scratch import local_directory
from firesteel.state.live.durable import StateReader
from firesteel.state.values.chunks import Entry

_VALUE: Final = b"\1"
_DELETED: Final = b"\0"
_DELETED_CODE: Final = 0
_PAGES_PER_BYTE: Final = 4  # pages may be half full, and a changed page is written again
_WHO: Final = "the file for what an epoch changes"


class Spill:
    """A reader that shows changes on top of another reader.

    Contract: `add` takes changes, which may themselves be read from this reader; its content does not change until it
    has taken them all. `bytes` is about their size. Scans become invalid with the next `add`. `entries` returns all
    added changes.
    """

    def __init__(self, base: StateReader) -> None:
        self._base = base
        self._environment = _open_nameless()
        self._snapshot = Snapshot(self._environment.begin())
        self.bytes = 0

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a composite key; None if there is none."""
        data = self._snapshot.get(key)
        if data is None:
            return self._base.get(key)
        return None if data[0] == _DELETED_CODE else data[1:]

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that have one."""
        return {key: value for key in keys if (value := self.get(key)) is not None}

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key begins with `prefix`, in order, from `start` on."""
        for key, value in overlaid(self.entries(prefix, start), self._base.scan(prefix, start)):
            if value is not None:
                yield key, value

    def entries(self, prefix: bytes = b"", start: bytes | None = None) -> Iterator[Entry]:
        """Return the added changes with a prefix, sorted."""
        for key, data in self._snapshot.scan(prefix, start):
            yield key, (None if data[0] == _DELETED_CODE else data[1:])

    def add(self, changes: Iterable[Entry], size: int = 0) -> None:
        """Add changes of about `size` bytes on top. Raises StateError if there is no room for them."""
        environment = self._environment
        self.bytes += size
        try:
            needed = pages_in(environment) + _PAGES_PER_BYTE * size
            if needed > environment.info()["map_size"]:
                self._snapshot.close()
                enlarge(environment, _WHO, needed)
                self._snapshot = Snapshot(environment.begin())
            for chunk in chunks(changes):
                with environment.begin(write=True) as transaction:
                    write(transaction, [(key, _marked(value)) for key, value in chunk])
            self._snapshot.close()
            self._snapshot = Snapshot(environment.begin())
        except lmdb.MapFullError as error:
            raise no_room_error(_WHO, environment.info()["map_size"]) from error
        except lmdb.Error as error:
            raise _unusable(error) from error

    def close(self) -> None:
        """Delete the file."""
        self._snapshot.close()
        self._environment.close()


def overlaid(upper: Iterable[Entry], lower: Iterable[Entry]) -> Iterator[Entry]:
    """Merge two sorted sequences of entries; if a key is in both, the entry of `upper` wins.

    >>> list(overlaid([(b"b", None), (b"c", b"2")], [(b"a", b"1"), (b"b", b"1"), (b"d", b"1")]))
    [(b'a', b'1'), (b'b', None), (b'c', b'2'), (b'd', b'1')]
    """
    rest = iter(lower)
    below = next(rest, None)
    for entry in upper:
        key = entry[0]
        while below is not None and below[0] < key:
            yield below
            below = next(rest, None)
        if below is not None and below[0] == key:
            below = next(rest, None)
        yield entry
    if below is not None:
        yield below
        yield from rest


def _open_nameless() -> Any:
    root = local_directory()
    try:
        root.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix="firesteel-spill-", dir=root))
        try:
            return open_environment(directory, databases=0)
        finally:
            shutil.rmtree(directory)
    except (OSError, lmdb.Error) as error:
        raise _unusable(error) from error


def _marked(value: bytes | None) -> bytes:
    return _DELETED if value is None else _VALUE + value


def _unusable(error: Exception) -> StateError:
    return StateError(
        "requires room for what one epoch changes",
        who=f"state, in {local_directory()},",
        got=f"{type(error).__name__}: {error}",
        hint="give the disk of SPARK_LOCAL_DIRS (or of temporary files) more room, or make epochs smaller",
    )
