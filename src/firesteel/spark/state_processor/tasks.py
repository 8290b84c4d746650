"""The tasks that write a savepoint: from rows to entries, and from the entries of a range of key groups to a run."""

from __future__ import annotations

import heapq
import pickle
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import BinaryType, IntegerType, StructType

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import batches_of, entries_of, write_run
from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.functions.windows import WINDOW_CODEC, CountWindow, GlobalWindow, TimeWindow
from firesteel.saved.entries import locate
from firesteel.saved.inspection import Groups, StateSlice
from firesteel.saved.row_writing import POSITION_SIZE, RowWriter, Written
from firesteel.state.keys.composite import BROADCAST_GROUP
from firesteel.state.keys.groups import subtask_of, user_key
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import Entry, in_chunks
from firesteel.state.values.schemas import Schema

ENTRY: Final = StructType().add("target", IntegerType()).add("key", BinaryType()).add("value", BinaryType())
BLOB: Final = StructType().add("blob", BinaryType())

_ENTRY: Final = pa.schema([("target", pa.int32()), ("key", pa.binary()), ("value", pa.binary())])
_BLOB: Final = pa.schema([("blob", pa.binary())])
_FAILURE: Final = b""
"""The key of an error; no entry has it, and it sorts before all of them."""


@dataclass(frozen=True)
class EncodeTask:
    """Converts the rows of a DataFrame to entries of one state, each with the part it belongs to."""

    written: Written
    columns: pa.Schema
    parts: int
    who: str
    sys_path: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield entries; the last one is an error if there was one."""
        sys.path.extend(path for path in self.sys_path if path not in sys.path)
        writer = RowWriter(self.written, self.columns, WINDOW_CODEC, window_of, self.who)
        for batch in batches:
            try:
                rows = list(self._targeted(writer.entries(batch)))
            except FiresteelError as error:
                error.__cause__ = error.__context__ = None
                yield _batch([(0, _FAILURE, pickle.dumps(error))], _ENTRY)
                return
            yield _batch(rows, _ENTRY)

    def _targeted(self, entries: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[int, bytes, bytes]]:
        parts, groups = self.parts, self.written.max_parallelism
        for key, value in entries:
            group = int.from_bytes(key[2:4], "big")
            if group == BROADCAST_GROUP:  # every run has all entries
                yield from ((part, key, value) for part in range(parts))
            else:
                yield subtask_of(group, parts, groups), key, value


class Target(NamedTuple):
    """The destination of an operator's runs, and their epoch."""

    url: str
    operator: str
    epoch: int


@dataclass(frozen=True)
class WriteTask:
    """Writes the run of a part: the new entries, sorted by key, and those kept from an older savepoint."""

    target: Target
    ranges: tuple[Groups, ...]
    schemas: dict[int, Schema]
    kept: StateSlice | None
    kept_url: str
    sys_path: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row: the pickled RunRef (None: nothing to write), or an error."""
        sys.path.extend(path for path in self.sys_path if path not in sys.path)
        context = TaskContext.get()
        assert context is not None
        written: RunRef | FiresteelError | None
        try:
            written = self._write(self.ranges[context.partitionId()], _entries(batches))
        except FiresteelError as error:
            error.__cause__ = error.__context__ = None
            written = error
        yield _batch([(pickle.dumps(written),)], _BLOB)

    def _write(self, groups: Groups, entries: Iterator[tuple[bytes, bytes]]) -> RunRef | None:
        first, last = groups
        target = self.target
        return write_run(
            Storage.of(target.url),
            f"runs/{target.operator}/{target.epoch:012d}-m{first:05d}.run",
            heapq.merge(self._new(entries), self._old(groups)),
            epoch=target.epoch,
            operator=target.operator,
            subtask=0,
            first_group=first,
            last_group=last,
        )

    def _new(self, entries: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for state_id, found in groupby(entries, key=lambda entry: entry[0][:2]):
            schema = self.schemas[int.from_bytes(state_id, "big")]
            new = _lists if schema["kind"] == "list" else partial(_single, schema)
            yield from new(found)

    def _old(self, groups: Groups) -> Iterator[Entry]:
        if self.kept is None:
            return
        table = self.kept.table(Storage.of(self.kept_url), groups, every_copy=True)
        for batch in batches_of(table):
            yield from entries_of(batch)


def read_written(blob: bytes) -> RunRef | None:
    """Return the run that a task has written; raise its error."""
    written: Any = pickle.loads(blob)
    if isinstance(written, FiresteelError):
        raise written
    return written  # type: ignore[no-any-return]


def window_of(namespace: dict[str, Any]) -> TimeWindow | CountWindow | GlobalWindow | None:
    """Return the window in a namespace column; None if its kind is not built in.

    >>> window_of({"start": 0, "end": 5}), window_of({"start": None, "end": None, "text": "CountWindow(id=3)"})
    (TimeWindow(start=0, end=5), CountWindow(id=3))
    """
    start, end, text = namespace.get("start"), namespace.get("end"), namespace.get("text") or ""
    if start is not None and end is not None:
        return TimeWindow(start, end)
    if text == repr(GlobalWindow.get()):
        return GlobalWindow.get()
    count = text.removeprefix("CountWindow(id=").removesuffix(")")
    return CountWindow(int(count)) if count != text and count.isdecimal() else None


def _entries(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
    for batch in batches:
        _, keys, values = (column.to_pylist() for column in batch.columns)
        for key, value in zip(keys, values, strict=True):
            if key == _FAILURE:
                raise pickle.loads(value)
            yield key, value


def _lists(elements: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    for prefix, mine in groupby(elements, key=lambda entry: entry[0][:-POSITION_SIZE]):
        yield from sorted(in_chunks(prefix, (value for _, value in mine)))


def _single(schema: Schema, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    last = None
    for key, value in entries:
        if key == last:
            place, namespace, _ = locate(schema, key, WINDOW_CODEC)
            at = "" if place is None else f" for the key {user_key(place)!r}"
            raise ProgramError(
                f"requires one row{at}{'' if namespace is None else f' and {namespace!r}'}"
                f"{' and map key' if schema['kind'] in ('map', 'broadcast') else ''}",
                who=f"state '{schema['name']}'",
                got="more than one",
                hint="aggregate the DataFrame first",
            )
        last = key
        yield key, value


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns: Any = zip(*rows, strict=True) if rows else [[] for _ in schema]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
