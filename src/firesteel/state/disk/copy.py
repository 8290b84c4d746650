"""The working store: the state of one operator subtask on this machine's disk, in one LMDB environment.

Contract: the copy holds exactly the state as of epoch `version` of its lineage and its key groups. `read` returns a
snapshot that later applies do not change. Any number of processes can use one copy. It is a cache: everything in it is
also in the runs. So a copy is discarded if it has another lineage or other key groups, if LMDB finds it damaged, or if
it is from before the machine's last boot (there is no fsync here).

`apply` advances the copy in as many transactions as bounded memory needs. If it is interrupted between two of them, the
copy is between two epochs: each key has the value of one or the other. Then nobody reads it, until the same entries (or
later ones that include them) are applied again and complete it.
"""

from __future__ import annotations

import os
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import lmdb

from firesteel.common.errors import FencedError, StateError
from firesteel.state.disk.bloom import Bloom
from firesteel.state.disk.directories import DATA_FILE, Identity, claimed, discard
from firesteel.state.disk.key_filter import KeyFilter
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

    `version` is its epoch; 0 if the copy is empty or between two epochs. `bloom` has all keys of the snapshot.
    """

    __slots__ = ("_bloom", "_data", "version")

    def __init__(self, transaction: Any, version: int, bloom: Bloom | None, data: Any) -> None:
        super().__init__(transaction)
        self.version = version
        self._bloom = bloom
        self._data = data

    def size(self) -> tuple[int, int]:
        """Return the number of entries, and the bytes of the pages that they take."""
        found = self._transaction.stat(self._data)
        pages = found["branch_pages"] + found["leaf_pages"] + found["overflow_pages"]
        return found["entries"], pages * found["psize"]

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that have one. It is many times faster if the keys are in order."""
        return super().get_many(keys if self._bloom is None else self._bloom.possible(keys))


class _Mark(NamedTuple):
    """The progress of a copy: it has all of epoch `version`, and may have parts of later ones up to `ahead` (0: none).

    `fill` counts how often the copy was emptied, so that a process that fills it in several transactions notices.
    """

    version: int
    ahead: int
    fill: int


class WorkingStore:
    """One working copy; `open_working_store` returns it and has an example."""

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
        """The epoch from which the copy can be advanced, 0 if it must be filled from the start."""
        with self._begin() as transaction:
            return self._marked(transaction).version

    def apply(self, epoch: int, entries: Iterable[Entry], *, since: int | None = None) -> None:
        """Put and delete entries and advance to version `epoch`; do nothing if the copy is already there.

        Entries can be in any order (the order of their keys is by far the fastest), each key once. `since` is the epoch
        that they follow; it is checked (ValueError). Memory is bounded: more than 8192 entries or 2 MiB take several
        transactions. Raises StateError if the disk is full or cannot be written, or another process empties the copy
        meanwhile; FencedError if another process is moving it beyond `epoch`.
        """
        mark = self._start(epoch, since)
        if mark is not None:
            self._move(epoch, entries, mark.fill)

    def load(self, epoch: int, entries: Iterable[Entry]) -> None:
        """Replace the contents of the copy by these entries, at version `epoch`; do nothing if it is already there.

        See `apply`. If it is interrupted, the copy stays at version 0, and is emptied before it is used again.
        """
        mark = self._start(epoch, None)
        if mark is not None:
            self._move(epoch, entries, mark.fill if mark.version == 0 else self._empty())

    def read(self) -> Reader:
        """Return a snapshot of the current version."""
        with self._lock:
            transaction = self._begin()
            mark = self._marked(transaction)
            version = 0 if mark.ahead else mark.version
            reader = Reader(transaction, version, self._filter.of(transaction), self._data)
            self._readers.add(reader)
            return reader

    def clear(self) -> None:
        """Empty the copy and set its version to 0."""
        self._empty()

    def close(self) -> None:
        """Close the environment and its snapshots; `open_working_store` opens it again."""
        self._filter.close()
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
        """Return the progress of the copy, None if it is at `epoch` already."""
        self._environment.reader_check()  # the snapshot of a killed process keeps its pages from being reused
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
                hint="a job is run by one driver at a time; this one ends, the other one continues",
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
        """Write a chunk in one transaction; return False, with nothing done, if the file is full."""
        try:
            with self._begin(write=True) as transaction:
                mark = self._marked(transaction)
                if mark.fill != fill:
                    raise StateError(
                        "was emptied by another process during a write",
                        who=f"the working copy {self.directory}",
                        hint="two drivers run this job, or a task of an earlier attempt is still running",
                    )
                if mark.version >= epoch:
                    return True
                if chunk:
                    write(transaction, chunk)
                    self._filter.include(transaction, chunk)
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
                self._filter.forget(transaction)
                transaction.put(_MARK, _mark.pack(0, 0, fill), db=self._meta)
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error
        return fill

    def _begin(self, write: bool = False) -> Any:
        try:
            return self._environment.begin(db=self._data, write=write)
        except lmdb.MapResizedError:  # another process has made the file larger than the map of this process
            self._grow(self._file.stat().st_size)
            return self._environment.begin(db=self._data, write=write)

    def _marked(self, transaction: Any) -> _Mark:
        data = transaction.get(_MARK, db=self._meta)
        return _Mark(0, 0, 0) if data is None else _Mark._make(_mark.unpack(data))

    def _grow(self, at_least: int = 0) -> None:
        """Map the file again, which must not happen during a snapshot."""
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
            with _closing_on_error(self._environment):
                self._data = self._environment.open_db(b"data")
                self._meta = self._environment.open_db(b"meta")
                self._filter = KeyFilter(self.directory, self._data, self._meta)
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error


def open_working_store(
    directory: Path, lineage: str, first_group: int, last_group: int, *, map_size: int = LARGEST_MAP
) -> WorkingStore:
    """Open or create the working copy in `directory` for key groups `first_group` to `last_group` (both inclusive).

    A process opens a copy once and keeps it open. `lineage` names one history of epochs. A job that starts from an
    older epoch gives later epochs other contents, so it must use another lineage. `map_size` is the size to which the
    file can grow before it is mapped again, which happens automatically; it costs only address space.

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
    """Close every open copy of this process below `directory`."""
    directory = directory.resolve()
    with _registry_lock:
        for path in [path for path in _stores if path.is_relative_to(directory)]:
            _stores.pop(path).close()


def release_working_stores(directory: Path) -> None:
    """Release every copy below `directory`; a copy with snapshots is closed after the last of them."""
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
    """Set inherited environments aside: a child must neither use nor close them, or the parent's snapshots end."""
    global _registry_lock
    _registry_lock = threading.Lock()
    _inherited.extend(_stores.values())
    _stores.clear()


os.register_at_fork(after_in_child=_after_fork)


def _open_checked(directory: Path, map_size: int) -> Any:
    environment = open_environment(directory, databases=2, map_size=map_size)
    with _closing_on_error(environment):
        if (directory / DATA_FILE).stat().st_size < pages_in(environment):
            raise lmdb.CorruptedError("the file was cut off")
    return environment


@contextmanager
def _closing_on_error(environment: Any) -> Iterator[None]:
    """Close an environment if the block fails: while a process has one open, it cannot open it again."""
    try:
        yield
    except BaseException:
        environment.close()
        raise


def _unusable(directory: Path, error: Exception) -> StateError:
    return StateError(
        "cannot be used",
        who=f"the working copy {directory}",
        got=f"{type(error).__name__}: {error}",
        hint="check that the disk has room; you can remove the copy, it is created again from the checkpoint",
    )
