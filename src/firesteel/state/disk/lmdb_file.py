"""LMDB environments with keys of any length, writes in bounded memory, and maps that fit the address space.

LMDB's keys have at most 511 bytes. A longer key is stored as its first 495 bytes and a hash, with the whole key in the
value. Readers restore the order of such keys, so keys and prefixes of any length work.

LMDB keeps the changed pages of a transaction in memory until the commit. Each of `chunks` is one transaction, so these
pages take about 32 MiB at most.

The map's size is address space, not memory, so it is as large as possible. A limit on address space (`ulimit -v`,
Spark's `spark.executor.pyspark.memory`) makes it smaller.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import lmdb

from firesteel.common.errors import StateError
from firesteel.state.values.chunks import Entry, bounded

LIMIT: Final = 511
LARGEST_MAP: Final = 64 << 30
_CHUNK_BYTES: Final = 2 << 20
_KEY_BLOCK: Final = 8192
_HASH: Final = 16
_HEAD: Final = LIMIT - _HASH
_SMALLEST_MAP: Final = 1 << 20
_MAX_READERS: Final = 512
_LOCK_FILE_SIZE: Final = 64 << 10
"""Room for the readers, of 64 bytes each, and a header."""


class Snapshot:
    """A snapshot of an environment's entries: a context manager, closed by the thread that uses it.

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

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that have one. It is many times faster if the keys are in order."""
        if max(map(len, keys), default=0) >= LIMIT:
            return {key: value for key in keys if (value := self.get(key)) is not None}
        with self._transaction.cursor() as cursor:
            return dict(cursor.getmulti(keys))

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key starts with `prefix`, in order, from key `start`."""
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
        """Release the snapshot; its pages cannot be reused before that."""
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
    """Put and delete the entries of a chunk. It is many times faster if the keys are in order."""
    values = [value for _, value in chunk]  # zip(*chunk) would keep the garbage collector busy
    with transaction.cursor() as cursor:
        if None not in values and max([len(key) for key, _ in chunk]) < LIMIT:
            cursor.putmulti(chunk)
            return
        cursor.putmulti(_puts(chunk))
    for key in [key for key, value in chunk if value is None]:
        transaction.delete(key if len(key) < LIMIT else _shortened(key))


def key_blocks(transaction: Any, database: Any) -> Iterator[list[bytes]]:
    """Return all keys of a database, in blocks; in order, except that long keys have that of their hashes."""
    with transaction.cursor(database) as cursor:
        keys = cursor.iternext(keys=True, values=False)
        while block := list(islice(keys, _KEY_BLOCK)):
            if max(map(len, block)) < LIMIT:
                yield block
            else:
                yield [
                    key if len(key) < LIMIT else _unpack(transaction.get(key, db=database))[0]
                    for key in block
                ]


def open_environment(directory: Path, databases: int, map_size: int = LARGEST_MAP) -> Any:
    """Open an environment without fsync; its map is as large as the address space allows."""
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
    """Allocate the lock file: LMDB creates and maps a sparse file, so a full disk would kill the process."""
    try:
        with open(directory / "lock.mdb", "ab", opener=_for_its_user) as file:
            file.write(bytes(max(0, _LOCK_FILE_SIZE - file.tell())))
    except OSError as error:
        raise lmdb.DiskError(str(error)) from error


def _for_its_user(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def enlarge(environment: Any, who: str, at_least: int = 0) -> None:
    """Enlarge the map, to more than `at_least` bytes; no transaction may be open in this process.

    Raises StateError if the process lacks the address space.
    """
    size = max(environment.info()["map_size"], at_least)
    for growth in (4.0, 2.0, 1.25):
        larger = int(size * growth) & -mmap.PAGESIZE
        if _room_for(
            larger
        ):  # LMDB releases the old map before it creates the new one, and crashes if it cannot
            environment.set_mapsize(larger)
            return
    raise no_room_error(who, size)


def no_room_error(who: str, size: int) -> StateError:
    """Return the error of a process whose address space is too small for a map of more than `size` bytes."""
    return StateError(
        f"requires more than {size >> 20} MiB of address space",
        who=who,
        got="a process with a lower limit",
        hint="remove the limit on address space (spark.executor.pyspark.memory, ulimit -v), since the map is "
        "a file, not memory; or spread the state over more subtasks",
    )


def pages_in(environment: Any) -> int:
    """Return the number of bytes of the map that are in use."""
    size: int = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    return size


def _room_for(size: int) -> bool:
    """Return whether this much address space is available."""
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
    """Return the matching entries of those that share their first 495 bytes, in the order of whole keys."""
    return (entry for entry in sorted(held) if entry[0].startswith(prefix) and entry[0] >= begin)
