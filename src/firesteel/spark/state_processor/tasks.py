"""The tasks that read and write saved state.

A state is read by key groups. It is written in two steps: from rows to entries, and from the entries of a range of key
groups to a run.
"""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

import pyarrow as pa

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import batches_of, entries_of, write_run
from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.saved.arrangements import Groups, SavedArrangement
from firesteel.saved.entries import locate
from firesteel.saved.inspection import StateSlice
from firesteel.saved.row_columns import RowColumns, RowTypes
from firesteel.saved.row_writing import POSITION_SIZE, RowWriter, Written
from firesteel.spark.shipped import AnsweringTask, Batches, RowForm, ShippedTask, current_task
from firesteel.state.keys.composite import BROADCAST_GROUP
from firesteel.state.keys.groups import subtask_of, user_key
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import Entry, in_chunks
from firesteel.state.values.schemas import Schema

ENTRIES: Final = RowForm(target="int", key="binary", value="binary")
"""Entries on their way to the part that writes them."""

_New = tuple[bytes, bytes]
"""An entry with a value: new state has no deletes."""

_FAILURE: Final = b""
"""The key of an error; no entry has it, and it sorts before all of them."""


@dataclass(frozen=True)
class ReadTask(ShippedTask):
    """Reads the rows of a state: each input row is the number of a range of key groups.

    The DataFrame is the user's, so an error becomes that of Spark's job.
    """

    url: str
    part: StateSlice
    ranges: tuple[Groups, ...]
    types: RowTypes
    state: str

    @property
    def who(self) -> str:
        """The state."""
        return self.state

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the ranges with these numbers."""
        storage = Storage.of(self.url)
        columns = RowColumns(self.part.schemas[0], self.types, self.state)
        for groups in _chosen(self.ranges, batches):
            yield from columns.batches(self.part.rows(storage, groups, WINDOW_CODEC))


@dataclass(frozen=True)
class ReadArrangementTask(ShippedTask):
    """Reads the rows of an arrangement, as `columns`: each input row is the number of a range of key groups."""

    url: str
    part: SavedArrangement
    ranges: tuple[Groups, ...]
    columns: pa.Schema
    expired: bool
    state: str

    @property
    def who(self) -> str:
        """The arrangement."""
        return self.state

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the ranges with these numbers."""
        storage = Storage.of(self.url)
        for groups in _chosen(self.ranges, batches):
            for rows in self.part.batches(storage, groups, expired=self.expired):
                yield rows.cast(self.columns, safe=False)


def _chosen(ranges: Sequence[Groups], batches: Batches) -> Iterator[Groups]:
    """Yield the ranges of key groups whose numbers are in the first column."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield ranges[number]


@dataclass(frozen=True)
class EncodeTask(ShippedTask):
    """Converts the rows of a DataFrame to entries of one state, each with the part it belongs to."""

    written: Written
    columns: pa.Schema
    parts: int
    state: str

    @property
    def who(self) -> str:
        """The state."""
        return self.state

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield entries."""
        writer = RowWriter(self.written, self.columns, WINDOW_CODEC, self.state)
        for batch in batches:
            yield ENTRIES.batch([*self._targeted(writer.entries(batch))])

    def failed(self, failure: FiresteelError) -> Iterator[pa.RecordBatch]:
        """Return an error for the part that would have written the entries."""
        return iter([ENTRIES.batch([(0, _FAILURE, pickle.dumps(failure))])])

    def _targeted(self, entries: Iterator[_New]) -> Iterator[tuple[int, bytes, bytes]]:
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
class WriteTask(AnsweringTask[RunRef | None]):
    """Writes the run of a part: the new entries, sorted by key, and those kept from an older savepoint.

    Its answer is the run, or None if there is nothing to write.
    """

    target: Target
    ranges: tuple[Groups, ...]
    schemas: dict[int, Schema]
    kept: StateSlice | None
    kept_url: str
    operator: str

    @property
    def who(self) -> str:
        """The operator."""
        return self.operator

    def answer(self, batches: Batches) -> RunRef | None:
        """Write the run. Raises the error of an `EncodeTask`, if one is among the entries."""
        groups = self.ranges[current_task().partitionId()]
        first, last = groups
        target = self.target
        return write_run(
            Storage.of(target.url),
            f"runs/{target.operator}/{target.epoch:012d}-m{first:05d}.run",
            heapq.merge(self._new(_entries(batches)), self._old(groups)),
            epoch=target.epoch,
            operator=target.operator,
            subtask=0,
            first_group=first,
            last_group=last,
        )

    def _new(self, entries: Iterator[_New]) -> Iterator[_New]:
        for state_id, found in groupby(entries, key=lambda entry: entry[0][:2]):
            schema = self.schemas[int.from_bytes(state_id, "big")]
            new = _lists if schema["kind"] == "list" else partial(_single, schema)
            yield from new(found)

    def _old(self, groups: Groups) -> Iterator[Entry]:
        if self.kept is None:
            return
        tables = self.kept.tables(Storage.of(self.kept_url), groups, every_copy=True)
        for batch in batches_of(tables):
            yield from entries_of(batch)


def _entries(batches: Batches) -> Iterator[_New]:
    for _, key, value in ENTRIES.rows(batches):
        if key == _FAILURE:
            raise pickle.loads(value)
        yield key, value


def _lists(elements: Iterable[_New]) -> Iterator[_New]:
    for prefix, mine in groupby(elements, key=lambda entry: entry[0][:-POSITION_SIZE]):
        yield from sorted(in_chunks(prefix, (value for _, value in mine)))


def _single(schema: Schema, entries: Iterable[_New]) -> Iterator[_New]:
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
