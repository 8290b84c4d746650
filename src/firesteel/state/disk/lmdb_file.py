"""LMDB environments: keys of any length, writes of bounded memory, maps that fit the process's address space.

LMDB's keys have at most 511 bytes. A longer one is stored as its first 495 bytes and a hash, with the whole key
in the value; readers put such keys in order again, so that every key and every prefix works, whatever its
length.

LMDB keeps the pages that a transaction changes in memory until it is committed. `chunks` are for a transaction each, so
that these pages take some 32 MiB at the most.

The map's size is address space, not memory, so it is as large as it may be; a limit on address space (`ulimit -v`,
Spark's `spark.executor.pyspark.memory`) makes it smaller.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import lmdb

from firesteel.common.errors import StateError
from firesteel.state.values.chunks import Entry, bounded

LIMIT: Final = 511
LARGEST_MAP: Final = 64 << 30
_CHUNK_BYTES: Final = 2 << 20
_HASH: Final = 16
_HEAD: Final = LIMIT - _HASH
_SMALLEST_MAP: Final = 1 << 20
_MAX_READERS: Final = 512
_LOCK_FILE_SIZE: Final = 64 << 10
"""Room for so many readers of 64 bytes, and a head."""


class Snapshot:
    """A state of an environment's entries: a context manager, to be closed by the thread that uses it.

    A scan ends with its snapshot.
    """

    __slots__ = ("__weakref__", "_get", "_transaction", "closed")

    def __init__(self, transaction: Any) -> None:
        self.closed = False
        self._transaction = transaction
        self._get: Callable[[bytes], bytes | None] = transaction.get

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None if there is none."""
        if len(key) < LIMIT:
            return self._get(key)
        stored = self._get(_shortened(key))
        return None if stored is None else _unpack(stored)[1]

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that have one; in the order of keys it is many times as fast."""
        if max(map(len, keys), default=0) >= LIMIT:
            return {key: value for key in keys if (value := self.get(key)) is not None}
        with self._transaction.cursor() as cursor:
            return dict(cursor.getmulti(keys))

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
                    held.append(_unpack(value) if len(key) == LIMIT else (key, value))
            yield from _ordered(held, prefix, begin)

    def close(self) -> None:
        """Give the snapshot back; the pages it shows cannot be used again before that."""
        self.closed = True
        self._transaction.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def chunks(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Cut entries into chunks for `write`."""
    return bounded(entries, _CHUNK_BYTES)


def write(transaction: Any, chunk: list[Entry]) -> None:
    """Put and delete a chunk's entries; in the order of their keys it is many times as fast."""
    values = [value for _, value in chunk]  # zip(*chunk) would keep the garbage collector busy
    with transaction.cursor() as cursor:
        if None not in values and max([len(key) for key, _ in chunk]) < LIMIT:
            cursor.putmulti(chunk)
            return
        cursor.putmulti(_puts(chunk))
    for key in [key for key, value in chunk if value is None]:
        transaction.delete(key if len(key) < LIMIT else _shortened(key))


def open_environment(directory: Path, databases: int, map_size: int = LARGEST_MAP) -> Any:
    """Open an environment that is not synchronised with the disk; its map is as large as there is room for."""
    while not _room_for(2 * map_size) and map_size > _SMALLEST_MAP:
        map_size //= 2
    _reserve_lock_file(directory)
    return lmdb.open(
        str(directory),
        map_size=map_size,
        max_dbs=databases,
        max_readers=_MAX_READERS,
        sync=False,
        metasync=False,
        mode=0o600,
    )


def _reserve_lock_file(directory: Path) -> None:
    """LMDB makes its lock file a sparse one and maps it: where the disk is full, the process would be killed."""
    try:
        with open(directory / "lock.mdb", "ab", opener=_for_its_user) as file:
            file.write(bytes(max(0, _LOCK_FILE_SIZE - file.tell())))
    except OSError as error:
        raise lmdb.DiskError(str(error)) from error


def _for_its_user(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def enlarge(environment: Any, who: str, at_least: int = 0) -> None:
    """Make the map larger than it is, and than `at_least` bytes; no transaction may be open in this process.

    Raises StateError if the process has no room for that.
    """
    size = max(environment.info()["map_size"], at_least)
    for growth in (4.0, 2.0, 1.25):
        larger = int(size * growth) & -mmap.PAGESIZE
        if _room_for(
            larger
        ):  # LMDB lets go of the old map before it makes the new one, and crashes if it cannot
            environment.set_mapsize(larger)
            return
    raise no_room_error(who, size)


def no_room_error(who: str, size: int) -> StateError:
    """Return the error of a process whose address space is too small for a map of more than `size` bytes."""
    return StateError(
        f"requires more than {size >> 20} MiB of address space",
        who=who,
        got="a process that is not allowed so much",
        hint="remove the limit on address space (spark.executor.pyspark.memory, ulimit -v), since what is mapped "
        "there is a file, not memory; or spread the state over more subtasks",
    )


def pages_in(environment: Any) -> int:
    """Return how many bytes of the map are in use."""
    size: int = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    return size


def _room_for(size: int) -> bool:
    """Whether so much address space can be had."""
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (OSError, OverflowError):
        return False
    return True


def _shortened(key: bytes) -> bytes:
    return key[:_HEAD] + blake2b(key, digest_size=_HASH).digest()


def _puts(chunk: list[Entry]) -> Iterator[tuple[bytes, bytes]]:
    for key, value in chunk:
        if value is None:
            continue
        if len(key) < LIMIT:
            yield key, value
        else:
            yield _shortened(key), len(key).to_bytes(4, "big") + key + value


def _unpack(stored: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(stored[:4], "big")
    return stored[4:end], stored[end:]


def _ordered(held: list[tuple[bytes, bytes]], prefix: bytes, begin: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return what belongs to a scan of the entries that share their first 495 bytes, in the order of whole keys."""
    return (entry for entry in sorted(held) if entry[0].startswith(prefix) and entry[0] >= begin)
