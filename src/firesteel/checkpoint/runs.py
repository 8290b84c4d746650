"""Runs: immutable files of sorted changes. They are the durable form of state.

A run holds the changes of one subtask in one epoch. On storage it is an Arrow IPC stream with the columns ``key:
binary`` and ``value: binary`` (null: the key is deleted), in record batches of up to 8192 entries in ascending
order of keys, compressed with zstd (for counters under short keys a third smaller than lz4, at the same cost to write
and to read). A run of an arrangement has the columns of its layout instead (`firesteel.checkpoint.arranged`). A file
counts only if a `RunRef` refers to it, which has the file's xxh3 checksum.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import lt
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_64

from firesteel.checkpoint.documents import damaged_error
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.errors import StateCorruptedError
from firesteel.state.disk.scratch import scratch_file
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import Entry, bounded

BROADCAST_GROUP: Final = b"\xff\xff"

BATCH: Final = 8192
_BATCH_BYTES: Final = 1 << 20
_IN_MEMORY: Final = 32 << 20
_CHUNK: Final = 1 << 20
RUN_SCHEMA: Final = pa.schema([pa.field("key", pa.binary(), nullable=False), pa.field("value", pa.binary())])


def write_run(
    storage: Storage,
    path: str,
    entries: Iterable[Entry],
    *,
    epoch: int,
    operator: str,
    subtask: int,
    first_group: int,
    last_group: int,
) -> RunRef | None:
    """Write entries, sorted by key and each key once, as a run; return None, and write nothing, if there are none.

    The file's name is `path` with a unique part before the extension: two attempts of one task can run at the same
    time, and the slower one must not replace the file that the other one reported. Memory is bounded: a run over 32 MiB
    is assembled in a temporary file. Raises ValueError if the entries are not in ascending
    order.
    """
    return write_batches(
        storage,
        path,
        _batched(entries),
        epoch=epoch,
        operator=operator,
        subtask=subtask,
        first_group=first_group,
        last_group=last_group,
    )


def write_batches(
    storage: Storage,
    path: str,
    batches: Iterable[pa.RecordBatch],
    *,
    epoch: int,
    operator: str,
    subtask: int,
    first_group: int,
    last_group: int,
    schema: pa.Schema = RUN_SCHEMA,
    even_if_empty: bool = False,
    compressed: bool = True,
) -> RunRef | None:
    """Write Arrow batches of a schema (default: entries), in order, as a run; see `write_run`.

    `even_if_empty` is for a schema whose metadata says something by itself.
    """
    with scratch_file(_IN_MEMORY) as file:
        count = _write_batches(file, batches, schema, compressed=compressed)
        if not count and not even_if_empty:
            return None
        size, checksum = file.tell(), _checksum_of(file)
        stem, dot, extension = path.rpartition(".")
        unique = f"{stem or extension}-{uuid.uuid4().hex[:8]}{dot}{extension if stem else ''}"
        file.seek(0)
        storage.put(unique, file.read() if size <= _IN_MEMORY else file)
    return RunRef(unique, count, size, checksum, epoch, operator, subtask, first_group, last_group)


def read_run(storage: Storage, ref: RunRef) -> Iterator[Entry]:
    """Return a run's entries in order, after a check of the whole file.

    Raises StateCorruptedError, which names the file, if it is missing or does not match `ref`.
    """
    for batch in read_batches(storage, ref):
        yield from entries_of(batch)


def check_run(storage: Storage, ref: RunRef) -> None:
    """Raise StateCorruptedError, which names the file, if it is missing or does not match `ref`."""
    with _checked(storage, ref):
        pass


def copy_run(source: Storage, ref: RunRef, target: Storage) -> None:
    """Check a run and copy it to the same path of another storage; an equal file there is replaced."""
    with _checked(source, ref) as file:
        target.put(ref.path, bytes(file.getbuffer()) if isinstance(file, io.BytesIO) else file)


def read_batches(storage: Storage, ref: RunRef) -> Iterator[pa.RecordBatch]:
    """Return a run's entries in order, as Arrow batches; see `read_run`."""
    with open_run(storage, ref) as reader:
        yield from reader


@contextmanager
def open_run(storage: Storage, ref: RunRef) -> Iterator[pa.RecordBatchReader]:
    """Open a run, which has a schema and batches; see `read_run`."""
    with _checked(storage, ref) as source, pa.ipc.open_stream(source) as reader:
        yield reader


def entries_of(batch: pa.RecordBatch) -> Iterator[Entry]:
    """Return the entries of a batch of `RUN_SCHEMA`."""
    keys, values = batch.columns
    return zip(keys.to_pylist(), values.to_pylist(), strict=True)


def batches_of(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Cut and join tables into batches of at most `BATCH` rows, and of about 1 MiB."""
    held: list[pa.Table] = []
    rows = size = 0
    for table in tables:
        held.append(table)
        rows += len(table)
        size += table.nbytes
        if rows >= BATCH or size >= _BATCH_BYTES:
            yield from _in_batches(held, min(BATCH, _BATCH_BYTES * rows // size))
            held, rows, size = [], 0, 0
    if rows:
        yield from _in_batches(held, rows)


def _in_batches(tables: list[pa.Table], rows: int) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = pa.concat_tables(tables).combine_chunks().to_batches(max(rows, 1))
    return batches


def in_groups(batch: pa.RecordBatch, first_group: int, last_group: int, *, broadcast: bool) -> pa.RecordBatch:
    """Return the entries of a batch in a range of key groups and, on request, those of broadcast state."""
    groups = pc.binary_slice(batch.column(0), 2, 4)
    first, last = (pa.scalar(group.to_bytes(2, "big"), pa.binary()) for group in (first_group, last_group))
    mask = pc.and_(pc.greater_equal(groups, first), pc.less_equal(groups, last))
    if broadcast:
        mask = pc.or_(mask, pc.equal(groups, pa.scalar(BROADCAST_GROUP, pa.binary())))
    return batch.filter(mask)


class RunEntries:
    """The entries of a run in a range of key groups; can be iterated more than once.

    `broadcast` includes the entries of broadcast state (key group 0xFFFF).
    """

    def __init__(
        self, storage: Storage, ref: RunRef, first_group: int, last_group: int, *, broadcast: bool = True
    ) -> None:
        self._storage = storage
        self._ref = ref
        self._groups = first_group, last_group
        self._broadcast = broadcast
        self._whole = broadcast and first_group <= ref.first_group and ref.last_group <= last_group

    def __iter__(self) -> Iterator[Entry]:
        for batch in self.batches():
            yield from entries_of(batch)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the entries as Arrow batches."""
        for batch in read_batches(self._storage, self._ref):
            yield batch if self._whole else in_groups(batch, *self._groups, broadcast=self._broadcast)


def _batched(entries: Iterable[Entry]) -> Iterator[pa.RecordBatch]:
    last = None
    for chunk in bounded(entries, _BATCH_BYTES):
        keys = [key for key, _ in chunk]  # zip(*chunk) would keep the garbage collector busy
        _check_order(keys, last)
        last = keys[-1]
        arrays = [pa.array(keys, pa.binary()), pa.array([value for _, value in chunk], pa.binary())]
        yield pa.RecordBatch.from_arrays(arrays, schema=RUN_SCHEMA)


def _write_batches(
    file: IO[bytes], batches: Iterable[pa.RecordBatch], schema: pa.Schema, *, compressed: bool
) -> int:
    options = pa.ipc.IpcWriteOptions(compression="zstd" if compressed else None, use_threads=False)
    count = 0
    with pa.ipc.new_stream(file, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _check_order(keys: Sequence[bytes], last: bytes | None) -> None:
    if not all(map(lt, keys, islice(keys, 1, None))) or (last is not None and last >= keys[0]):
        raise ValueError("the entries of a run must be in ascending order of their keys, each key once")


def _checksum_of(file: IO[bytes]) -> str:
    digest = xxh3_64()
    file.seek(0)
    while data := file.read(_CHUNK):
        digest.update(data)
    return digest.hexdigest()


@contextmanager
def _checked(storage: Storage, ref: RunRef) -> Iterator[Any]:
    """Open a run as a source for Arrow. A large one is copied to a temporary file, to be checked before it is used."""
    if ref.size <= _IN_MEMORY:
        yield io.BytesIO(_fetch(storage, ref))
        return
    with scratch_file(_IN_MEMORY) as file:
        _fetch_into(file, storage, ref)
        yield file


def _fetch(storage: Storage, ref: RunRef) -> bytes:
    try:
        data = storage.get(ref.path)
    except NotFound as error:
        raise _damaged(storage, ref, "no such file") from error
    _check(storage, ref, len(data), xxh3_64(data).hexdigest())
    return data


def _fetch_into(file: IO[bytes], storage: Storage, ref: RunRef) -> None:
    try:
        for chunk in storage.chunks(ref.path):
            file.write(chunk)
    except NotFound as error:
        raise _damaged(storage, ref, "no such file") from error
    _check(storage, ref, file.tell(), _checksum_of(file))
    file.seek(0)


def _check(storage: Storage, ref: RunRef, size: int, checksum: str) -> None:
    if size != ref.size:
        raise _damaged(storage, ref, f"{size} bytes")
    if checksum != ref.checksum:
        raise _damaged(storage, ref, f"checksum {checksum}")


def _damaged(storage: Storage, ref: RunRef, got: str) -> StateCorruptedError:
    place = f"epoch {ref.epoch}, subtask {ref.subtask}"
    requirement = f"must be a run of {ref.size} bytes with checksum {ref.checksum} ({place})"
    return damaged_error(storage, ref.path, got, requirement=requirement)
