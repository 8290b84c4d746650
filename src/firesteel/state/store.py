"""The working store: the state of one operator subtask on this machine's disk, in one LMDB environment.

Contract: the copy holds exactly the state as of epoch `version` of its lineage (a job) and key groups. `apply` moves it on by
one epoch in one transaction, so a crash leaves it before or after. `read` gives a snapshot that later applies do not change.
A copy of another lineage, of other key groups, or from before the machine's last boot (LMDB runs here without fsync) is thrown
away: it can always be made again from the runs.

LMDB takes keys of up to 511 bytes. A longer key is stored as its first 400 bytes, a mark and the hash of the rest; its value
carries the whole key. Prefix scans therefore work for prefixes of up to 400 bytes, and beyond them by filtering.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import lmdb
from xxhash import xxh3_128_digest

from firesteel.common.errors import StateError

_FIRST_SIZE: Final = 1 << 30
_META: Final = b"meta"
_DATA: Final = b"data"
_KEPT: Final = 400
_LONGEST: Final = 480
_PLAIN: Final = b"\x00"
_LONG: Final = b"\x01"

_open_stores: dict[str, WorkingStore] = {}
_lock = threading.Lock()


class Reader:
    """A snapshot of a working store."""

    __slots__ = ("_get", "_transaction")

    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction
        self._get = transaction.get

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None if there is none."""
        stored = self._get(key if len(key) <= _LONGEST else _shortened(key))
        if stored is None:
            return None
        return stored[1:] if stored[0] == 0 else _split_long(stored)[1]

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries whose key begins with `prefix`, in order, from `start` on."""
        begin = (prefix if start is None else max(prefix, start))[:_KEPT]
        bound = prefix[:_KEPT]
        with self._transaction.cursor() as cursor:
            if not cursor.set_range(begin):
                return
            for key, stored in cursor:
                if not key.startswith(bound):
                    return
                if stored[0] == 0:
                    whole, value = key, stored[1:]
                else:
                    whole, value = _split_long(stored)
                if whole.startswith(prefix) and (start is None or whole >= start):
                    yield whole, value


class WorkingStore:
    """One LMDB environment; get it from `open_working_store`."""

    def __init__(self, directory: Path, identity: dict[str, Any]) -> None:
        self._directory = directory
        self._identity = identity
        self._environment = self._open()
        if self._stored_identity() != identity:
            self._start_over()

    @property
    def version(self) -> int:
        """The epoch whose state the copy holds, 0 if it is empty."""
        with self._environment.begin() as transaction:
            stored = transaction.get(b"version", db=self._meta)
            return 0 if stored is None else int(stored)

    def apply(self, epoch: int, entries: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Put and delete entries and move to version `epoch`, all in one transaction."""
        changes = list(entries)
        while True:
            try:
                with self._environment.begin(write=True) as transaction:
                    self._write(transaction, changes)
                    transaction.put(b"version", str(epoch).encode(), db=self._meta)
                return
            except lmdb.MapFullError:
                self._environment.set_mapsize(self._environment.info()["map_size"] * 4)

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Open a snapshot."""
        try:
            transaction = self._environment.begin(db=self._data, buffers=False)
        except lmdb.MapResizedError:  # another process has grown the file
            self._environment.set_mapsize(0)
            transaction = self._environment.begin(db=self._data, buffers=False)
        with transaction:
            yield Reader(transaction)

    def close(self) -> None:
        """Close the environment."""
        self._environment.close()

    def _write(self, transaction: Any, changes: list[tuple[bytes, bytes | None]]) -> None:
        puts = []
        for key, value in changes:
            if value is None:
                transaction.delete(key if len(key) <= _LONGEST else _shortened(key), db=self._data)
            elif len(key) <= _LONGEST:
                puts.append((key, _PLAIN + value))
            else:
                puts.append((_shortened(key), _LONG + len(key).to_bytes(4, "big") + key + value))
        with transaction.cursor(db=self._data) as cursor:
            cursor.putmulti(puts)

    def _open(self) -> Any:
        self._directory.mkdir(parents=True, exist_ok=True)
        try:
            environment = lmdb.open(
                str(self._directory), map_size=_FIRST_SIZE, max_dbs=2, sync=False, metasync=False, max_readers=512
            )
            self._meta = environment.open_db(_META)
            self._data = environment.open_db(_DATA)
        except lmdb.Error as error:
            raise StateError(
                "could not be opened",
                who=f"the working copy {self._directory}",
                got=f"{type(error).__name__}: {error}",
                hint="it may be removed: it is made again from the checkpoint",
            ) from error
        return environment

    def _stored_identity(self) -> dict[str, Any] | None:
        with self._environment.begin() as transaction:
            stored = transaction.get(b"identity", db=self._meta)
            return None if stored is None else json.loads(stored)

    def _start_over(self) -> None:
        self._environment.close()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._environment = self._open()
        with self._environment.begin(write=True) as transaction:
            transaction.put(b"identity", json.dumps(self._identity).encode(), db=self._meta)


def open_working_store(directory: Path, lineage: str, first_group: int, last_group: int) -> WorkingStore:
    """Open (or make) the working copy in `directory`; a process opens each environment once and keeps it."""
    identity = {"lineage": lineage, "first": first_group, "last": last_group, "boot": _boot_id()}
    name = str(directory)
    with _lock:
        store = _open_stores.get(name)
        if store is not None and store._identity == identity and directory.exists():
            return store
        if store is not None:
            store.close()
        store = _open_stores[name] = WorkingStore(directory, identity)
        return store


def close_working_stores(directory: Path) -> None:
    """Close every environment below `directory` that this process has open."""
    with _lock:
        for name in [name for name in _open_stores if Path(name).is_relative_to(directory)]:
            _open_stores.pop(name).close()


def _shortened(key: bytes) -> bytes:
    return key[:_KEPT] + b"\xff" + xxh3_128_digest(key)


def _split_long(stored: bytes) -> tuple[bytes, bytes]:
    end = 5 + int.from_bytes(stored[1:5], "big")
    return stored[5:end], stored[end:]


@cache
def _boot_id() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else "unknown"
