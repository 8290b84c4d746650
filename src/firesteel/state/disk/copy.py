"""The working store: the state of one operator subtask on this machine's disk, in one LMDB environment.

Contract: the copy holds exactly the state as of epoch `version` of its lineage and its key groups; `read` gives a
snapshot that later applies do not change. Any number of processes may use one copy. It is a cache: nothing in it is
not also in the runs, so a copy of another lineage or other key groups, one that LMDB finds damaged, and one from
before the machine's last boot (there is no fsync here) is thrown away.

`apply` moves the copy on in as many transactions as bounded memory takes. If it is interrupted between two of them,
the copy is between two epochs: each key has the value of one or the other. Nobody reads it then, and whoever applies
the same entries again (or later ones that include them), moves it to where it should be.
"""

from __future__ import annotations

import os
import struct
import threading
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import lmdb

from firesteel.common.errors import FencedError, StateError
from firesteel.state.disk.directories import DATA_FILE, Identity, claimed, discard
from firesteel.state.disk.lmdb_file import (
    LARGEST_MAP,
    Snapshot,
    chunks,
    enlarge,
    open_environment,
    pages_in,
    write,
)
from firesteel.state.values.chunks import Entry

_MARK: Final = b"mark"
_mark: Final = struct.Struct(">QQQ")


class Reader(Snapshot):
    """A snapshot of a working store.

    `version` is the epoch it shows; 0 if the copy is empty, or if it is between two epochs and shows neither.
    """

    __slots__ = ("version",)

    def __init__(self, transaction: Any, version: int) -> None:
        super().__init__(transaction)
        self.version = version


class _Mark(NamedTuple):
    """Where a copy stands: it has all of epoch `version`, and of later ones until `ahead` (0: none) it may have parts.

    `fill` counts how often the copy was emptied, so that who fills it in several transactions notices.
    """

    version: int
    ahead: int
    fill: int


class WorkingStore:
    """One working copy; get it from `open_working_store`, which see for an example."""

    def __init__(self, directory: Path, identity: Identity, map_size: int) -> None:
        self.directory = directory
        self.identity = identity
        self._lock = threading.Lock()
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()
        with claimed(directory, identity):
            self._open(map_size)
            self._inode = self._file.stat().st_ino

    @property
    def version(self) -> int:
        """The epoch from which the copy can be moved on, 0 if it must be filled from the start."""
        with self._begin() as transaction:
            return self._marked(transaction).version

    def apply(self, epoch: int, entries: Iterable[Entry], *, since: int | None = None) -> None:
        """Put and delete entries and move to version `epoch`; do nothing if that is past.

        Entries may be in any order (that of their keys is far the fastest), each key once. `since` is the epoch they
        lead on from, to be checked (ValueError). Memory is bounded: more than 8192 entries or 2 MiB take several
        transactions. Raises StateError if the disk is full or cannot be written, or another process empties the copy
        meanwhile; FencedError if another process is moving it beyond `epoch`.
        """
        mark = self._start(epoch, since)
        if mark is not None:
            self._move(epoch, entries, mark.fill)

    def load(self, epoch: int, entries: Iterable[Entry]) -> None:
        """Make the copy hold just these entries, at version `epoch`; do nothing if that is past. See `apply`.

        If it is interrupted, the copy is left at version 0, and emptied before it is used again.
        """
        mark = self._start(epoch, None)
        if mark is not None:
            self._move(epoch, entries, mark.fill if mark.version == 0 else self._empty())

    def read(self) -> Reader:
        """Return a snapshot of the present version."""
        with self._lock:
            transaction = self._begin()
            mark = self._marked(transaction)
            reader = Reader(transaction, 0 if mark.ahead else mark.version)
            self._readers.add(reader)
            return reader

    def clear(self) -> None:
        """Make the copy empty, at version 0."""
        self._empty()

    def close(self) -> None:
        """Close the environment and the snapshots of it; `open_working_store` opens it again."""
        self._environment.close()

    @property
    def lost(self) -> bool:
        """Whether the files on disk are no longer those that this object has open."""
        try:
            return self._file.stat().st_ino != self._inode
        except FileNotFoundError:
            return True

    @property
    def in_use(self) -> bool:
        """Whether this process has a snapshot open."""
        return any(not reader.closed for reader in self._readers)

    @property
    def _file(self) -> Path:
        return self.directory / DATA_FILE

    def _start(self, epoch: int, since: int | None) -> _Mark | None:
        """Return where the copy stands, None if it is at `epoch` already."""
        self._environment.reader_check()  # the snapshot of a process that was killed keeps pages from being used again
        with self._begin() as transaction:
            mark = self._marked(transaction)
        if mark.version >= epoch:
            return None
        if since is not None and mark.version < since:
            raise ValueError(f"changes since epoch {since} cannot be applied to version {mark.version}")
        if mark.ahead and not mark.version:
            return _Mark(0, 0, self._empty())
        if mark.ahead > epoch:
            raise FencedError(
                f"is being moved to epoch {mark.ahead}, beyond epoch {epoch}: the job has a new driver",
                who=f"the working copy {self.directory}",
                hint="a job is run by one driver at a time; this one ends, the other one goes on",
            )
        return mark

    def _move(self, epoch: int, entries: Iterable[Entry], fill: int) -> None:
        left = chunks(entries)
        chunk = next(left, [])
        while True:
            following = next(left, None)
            while not self._written(epoch, chunk, following is None, fill):
                self._grow()
            if following is None:
                return
            chunk = following

    def _written(self, epoch: int, chunk: list[Entry], last: bool, fill: int) -> bool:
        """Write a chunk in one transaction; answer False, with nothing done, if the file is full."""
        try:
            with self._begin(write=True) as transaction:
                mark = self._marked(transaction)
                if mark.fill != fill:
                    raise StateError(
                        "was emptied by another process while this one wrote it",
                        who=f"the working copy {self.directory}",
                        hint="two drivers run this job, or a task of an earlier attempt is still running",
                    )
                if mark.version >= epoch:
                    return True
                if chunk:
                    write(transaction, chunk)
                ahead = max(epoch, mark.ahead)
                if last:
                    mark = _Mark(epoch, 0 if ahead == epoch else ahead, fill)
                else:
                    mark = _Mark(mark.version, ahead, fill)
                transaction.put(_MARK, _mark.pack(*mark), db=self._meta)
        except lmdb.MapFullError:
            return False
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error
        return True

    def _empty(self) -> int:
        try:
            with self._begin(write=True) as transaction:
                fill = self._marked(transaction).fill + 1
                transaction.drop(self._data, delete=False)
                transaction.put(_MARK, _mark.pack(0, 0, fill), db=self._meta)
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error
        return fill

    def _begin(self, write: bool = False) -> Any:
        try:
            return self._environment.begin(db=self._data, write=write)
        except lmdb.MapResizedError:  # another process has made the file larger than what is mapped here
            self._grow(self._file.stat().st_size)
            return self._environment.begin(db=self._data, write=write)

    def _marked(self, transaction: Any) -> _Mark:
        data = transaction.get(_MARK, db=self._meta)
        return _Mark(0, 0, 0) if data is None else _Mark._make(_mark.unpack(data))

    def _grow(self, at_least: int = 0) -> None:
        """LMDB maps the file anew, which must not happen under a snapshot."""
        who = f"the working copy {self.directory}"
        if self.in_use:
            raise StateError(
                "must grow, and cannot while this process reads from it",
                who=who,
                hint="close the snapshots of earlier epochs before applying a new one",
            )
        enlarge(self._environment, who, at_least)

    def _open(self, map_size: int) -> None:
        try:
            try:
                self._environment = _open_checked(self.directory, map_size)
            except (lmdb.InvalidError, lmdb.CorruptedError, lmdb.VersionMismatchError):
                discard(self.directory)
                self._environment = _open_checked(self.directory, map_size)
            self._data = self._environment.open_db(b"data")
            self._meta = self._environment.open_db(b"meta")
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error


def open_working_store(
    directory: Path, lineage: str, first_group: int, last_group: int, *, map_size: int = LARGEST_MAP
) -> WorkingStore:
    """Open, or make, the working copy in `directory` for key groups `first_group` to `last_group`, both included.

    A process opens a copy once and keeps it open. `lineage` names one history of epochs: whoever starts a job from an
    older epoch, and so gives later epochs another content, must choose another lineage. `map_size` is what the
    file may grow to before LMDB has to map it anew, which happens by itself; it costs address space only.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     store = open_working_store(Path(directory), "job", 0, 127)
    ...     store.apply(1, [(b"a1", b"x"), (b"a2", b"y"), (b"b", b"z")])
    ...     store.apply(2, [(b"a1", None)])
    ...     with store.read() as reader:
    ...         reader.version, reader.get(b"b"), list(reader.scan(b"a"))
    ...     close_working_stores(Path(directory))
    (2, b'z', [(b'a2', b'y')])
    """
    directory = directory.resolve()
    identity = Identity(lineage, first_group, last_group)
    with _registry_lock:
        store = _stores.get(directory)
        if store is not None and (store.identity != identity or store.lost):
            store.close()
            store = None
        if store is None:
            store = _stores[directory] = WorkingStore(directory, identity, map_size)
        return store


def close_working_stores(directory: Path) -> None:
    """Close every copy below `directory` that this process has open."""
    directory = directory.resolve()
    with _registry_lock:
        for path in [path for path in _stores if path.is_relative_to(directory)]:
            _stores.pop(path).close()


def release_working_stores(directory: Path) -> None:
    """Let go of every copy below `directory`; one of which there are snapshots is closed after the last of them."""
    directory = directory.resolve()
    with _registry_lock:
        for path in [path for path in _stores if path.is_relative_to(directory)]:
            store = _stores.pop(path)
            if not store.in_use:
                store.close()


_stores: dict[Path, WorkingStore] = {}
_inherited: list[WorkingStore] = []
_registry_lock = threading.Lock()


def _after_fork() -> None:
    """A child must neither use nor close an environment it inherits: closing would end the parent's snapshots."""
    global _registry_lock
    _registry_lock = threading.Lock()
    _inherited.extend(_stores.values())
    _stores.clear()


os.register_at_fork(after_in_child=_after_fork)


def _open_checked(directory: Path, map_size: int) -> Any:
    environment = open_environment(directory, databases=2, map_size=map_size)
    if (directory / DATA_FILE).stat().st_size < pages_in(environment):
        environment.close()
        raise lmdb.CorruptedError("the file was cut off")
    return environment


def _unusable(directory: Path, error: Exception) -> StateError:
    return StateError(
        "cannot be used",
        who=f"the working copy {directory}",
        got=f"{type(error).__name__}: {error}",
        hint="check that the disk has room; the copy may be removed, it is made again from the checkpoint",
    )
