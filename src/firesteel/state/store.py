"""The working store: the state of one operator subtask on this machine's disk, in one LMDB environment.

Contract: the copy holds exactly the state as of epoch `version` of its lineage and its key groups. `apply`
moves it on in one transaction, so a crash leaves it before or after; `read` gives a snapshot that later applies
do not change. Any number of processes may use one copy. It is a cache: nothing in it is not also in the runs,
so a copy of another lineage or other key groups, one that LMDB finds damaged, and one from before the machine's
last boot (there is no fsync here) is thrown away.

LMDB's keys have at most 511 bytes. A longer one is stored as its first 495 bytes and a hash, with the whole key
in the value; readers put such keys in order again, so that every key and every prefix works, whatever its
length.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import lmdb

from firesteel.common.errors import StateError
from firesteel.state.copies import DATA_FILE, Identity, claimed, discard

_FIRST_SIZE: Final = 1 << 30
_GROWTH: Final = 4
_MAX_READERS: Final = 512
_LIMIT: Final = 511
_HASH: Final = 16
_HEAD: Final = _LIMIT - _HASH
_BATCH: Final = 8192
_VERSION: Final = b"version"

Entry = tuple[bytes, bytes | None]


class Reader:
    """A snapshot of a working store: a context manager, to be closed by the thread that uses it.

    `version` is the epoch it shows. A scan ends with its reader.
    """

    __slots__ = ("__weakref__", "_get", "_transaction", "closed", "version")

    def __init__(self, transaction: Any, version: int) -> None:
        self.version = version
        self.closed = False
        self._transaction = transaction
        self._get: Callable[[bytes], bytes | None] = transaction.get

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None if there is none."""
        if len(key) < _LIMIT:
            return self._get(key)
        stored = self._get(_shortened(key))
        return None if stored is None else _unpack(stored)[1]

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key begins with `prefix`, in order, from key `start` on."""
        begin = prefix if start is None or start < prefix else start
        head = prefix[:_HEAD]
        held: list[tuple[bytes, bytes]] = []
        with self._transaction.cursor() as cursor:
            if not cursor.set_range(begin[:_HEAD]):
                return
            for key, value in cursor.iternext():
                if not key.startswith(head):
                    break
                if held and not key.startswith(held[0][0][:_HEAD]):
                    yield from _ordered(held, prefix, begin)
                    held.clear()
                if len(key) < _HEAD:
                    yield key, value
                else:
                    held.append(_unpack(value) if len(key) == _LIMIT else (key, value))
            yield from _ordered(held, prefix, begin)

    def close(self) -> None:
        """Give the snapshot back; the store cannot reuse the pages it shows before that."""
        self.closed = True
        self._transaction.abort()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
        """The epoch whose state the copy holds, 0 if it is empty."""
        with self._begin() as transaction:
            return self._version(transaction)

    def apply(self, epoch: int, entries: Iterable[Entry], *, since: int | None = None) -> None:
        """Put and delete entries and move to version `epoch`, all in one transaction; do nothing if that is past.

        Entries are in any order, each key once. `since` is the epoch they lead on from, to be checked
        (ValueError). They may be iterated over again, when the file is full and grows; what can be iterated
        over only once is put into a list. Raises StateError if the disk is full or cannot be written.
        """
        entries = list(entries) if isinstance(entries, Iterator) else entries
        while not self._applied(epoch, entries, since):
            self._grow()

    def read(self) -> Reader:
        """Return a snapshot of the present version."""
        with self._lock:
            transaction = self._begin()
            reader = Reader(transaction, self._version(transaction))
            self._readers.add(reader)
            return reader

    def clear(self) -> None:
        """Make the copy empty, at version 0."""
        with self._begin(write=True) as transaction:
            transaction.drop(self._data, delete=False)
            transaction.delete(_VERSION, db=self._meta)

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

    def _applied(self, epoch: int, entries: Iterable[Entry], since: int | None) -> bool:
        """Apply in one transaction; answer False, with nothing done, if the file is full."""
        try:
            with self._begin(write=True) as transaction:
                version = self._version(transaction)
                if version >= epoch:
                    return True
                if since is not None and version < since:
                    raise ValueError(f"changes since epoch {since} cannot be applied to version {version}")
                self._write(transaction, entries)
                transaction.put(_VERSION, epoch.to_bytes(8, "big"), db=self._meta)
        except lmdb.MapFullError:
            return False
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error
        return True

    def _write(self, transaction: Any, entries: Iterable[Entry]) -> None:
        iterator = iter(entries)
        with transaction.cursor() as cursor:
            while chunk := list(islice(iterator, _BATCH)):
                keys, values = zip(*chunk, strict=True)
                if None in values or max(map(len, keys)) >= _LIMIT:
                    cursor.putmulti(_puts(chunk))
                    for key in [key for key, value in chunk if value is None]:
                        transaction.delete(key if len(key) < _LIMIT else _shortened(key))
                else:
                    cursor.putmulti(chunk)

    def _begin(self, write: bool = False) -> Any:
        try:
            return self._environment.begin(db=self._data, write=write)
        except lmdb.MapResizedError:  # another process has grown the file
            self._resize(0)
            return self._environment.begin(db=self._data, write=write)

    def _version(self, transaction: Any) -> int:
        return int.from_bytes(transaction.get(_VERSION, b"", db=self._meta), "big")

    def _grow(self) -> None:
        self._resize(self._environment.info()["map_size"] * _GROWTH)

    def _resize(self, size: int) -> None:
        """LMDB maps the file anew, which must not happen under a snapshot."""
        if self.in_use:
            raise StateError(
                "must grow, and cannot while this process reads from it",
                who=f"the working copy {self.directory}",
                hint="close the snapshots of earlier epochs before applying a new one",
            )
        self._environment.set_mapsize(size)

    def _open(self, map_size: int) -> None:
        try:
            try:
                self._environment = _open_environment(self.directory, map_size)
            except (lmdb.InvalidError, lmdb.CorruptedError, lmdb.VersionMismatchError):
                discard(self.directory)
                self._environment = _open_environment(self.directory, map_size)
            self._data = self._environment.open_db(b"data")
            self._meta = self._environment.open_db(b"meta")
        except lmdb.Error as error:
            raise _unusable(self.directory, error) from error


def open_working_store(
    directory: Path, lineage: str, first_group: int, last_group: int, *, map_size: int = _FIRST_SIZE
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


def _open_environment(directory: Path, map_size: int) -> Any:
    environment = lmdb.open(
        str(directory), map_size=map_size, max_dbs=2, max_readers=_MAX_READERS, sync=False, metasync=False
    )
    environment.reader_check()  # snapshots of processes that were killed keep pages from being used again
    pages, page = environment.info()["last_pgno"] + 1, environment.stat()["psize"]
    if (directory / DATA_FILE).stat().st_size < pages * page:
        environment.close()
        raise lmdb.CorruptedError("the file was cut off")
    return environment


def _shortened(key: bytes) -> bytes:
    return key[:_HEAD] + blake2b(key, digest_size=_HASH).digest()


def _puts(chunk: list[Entry]) -> Iterator[tuple[bytes, bytes]]:
    for key, value in chunk:
        if value is None:
            continue
        if len(key) < _LIMIT:
            yield key, value
        else:
            yield _shortened(key), len(key).to_bytes(4, "big") + key + value


def _unpack(stored: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(stored[:4], "big")
    return stored[4:end], stored[end:]


def _ordered(held: list[tuple[bytes, bytes]], prefix: bytes, begin: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return what belongs to a scan of the entries that share their first 495 bytes, in the order of whole keys."""
    return (entry for entry in sorted(held) if entry[0].startswith(prefix) and entry[0] >= begin)


def _unusable(directory: Path, error: Exception) -> StateError:
    return StateError(
        "cannot be used",
        who=f"the working copy {directory}",
        got=f"{type(error).__name__}: {error}",
        hint="check that the disk has room; the copy may be removed, it is made again from the checkpoint",
    )
