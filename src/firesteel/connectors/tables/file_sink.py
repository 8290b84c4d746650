"""Files as the sink of a table, exactly once, with a directory for each partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import LogicalType, RowType
from firesteel.common.logical_types.text import cast_to_string
from firesteel.common.time import MIN_WATERMARK
from firesteel.connectors.files.parts import PartFormat
from firesteel.connectors.files.sink.buckets import BasePathBuckets
from firesteel.connectors.files.sink.compaction import Compaction
from firesteel.connectors.files.sink.rolling import RollingPolicy
from firesteel.connectors.files.sink.sink import FileSink
from firesteel.connectors.files.sink.writer import FileWriter
from firesteel.connectors.files.systems import absolute
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.overwriting import UNTIL_THE_END, Overwrite, OverwritingCommitter
from firesteel.connectors.tables.partition_commit import (
    PartitionCommit,
    PartitionCommitter,
    PartitionedState,
    WaitingPartitions,
    files_state,
)
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter, Kinds
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Committer, WriterContext

Codes = npt.NDArray[np.int64]

_ESCAPED: Final = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(1, 32)}
"""Characters that directories' names do not have, as in Flink (PartitionPathUtils)."""


class FileTableSink(ColumnSink):
    """Writes rows of a type as part files below a path; see `FileSink` for when they become visible.

    The columns of `partition_keys` are in the names of directories, `key=value`, and not in the files; NULL and empty
    text are `default_partition` there. With `changes` the format takes all kinds of changes; with `commit`, partitions
    are committed, and with `compaction` the part files of a partition become fewer.
    """

    def __init__(
        self,
        path: str,
        row: RowType,
        partition_keys: Sequence[str],
        format: PartFormat,
        rolling: RollingPolicy,
        default_partition: str,
        *,
        changes: bool = False,
        commit: PartitionCommit | None = None,
        compaction: Compaction | None = None,
    ) -> None:
        self._changes = changes
        self._base = absolute(path, "the table of files")
        self._commit = commit
        self._files = FileSink(path, format, BasePathBuckets(), rolling, compaction=compaction)
        self._overwrites = False
        self._parts = (path, format, rolling)
        self._row = row
        self._keys = tuple(partition_keys)
        self._default = default_partition

    def overwriting(self) -> FileTableSink:
        """Return a sink that puts its rows in the place of the table, or of the partitions that it writes to."""
        sink = FileTableSink.__new__(type(self))
        path, form, rolling = self._parts
        files = FileSink(path, form, BasePathBuckets(), rolling, compaction=UNTIL_THE_END)
        sink.__dict__.update(self.__dict__, _files=files, _overwrites=True)
        return sink

    @property
    def writes_at_end(self) -> bool:
        """Whether the table is emptied even if there are no rows."""
        return self._overwrites

    @property
    def holds_output_back(self) -> bool:
        """Whether parts may stay open over several epochs."""
        return self._files.holds_output_back

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        states = (context.state, *context.inherited)
        own, *inherited = map(files_state, states)
        writer = self._files.create_writer(replace(context, state=own, inherited=tuple(inherited)))
        assert isinstance(writer, FileWriter)
        ends = self._overwrites and context.facts.final
        how = {"changes": self._changes, "overwrites": ends}
        if self._commit is None:
            return _Writer(writer, self._row, self._keys, self._default, **how)
        waiting = WaitingPartitions(self._commit, states)
        return _CommittingWriter(writer, self._row, self._keys, self._default, context.facts, waiting, **how)

    def create_committer(self) -> Committer:
        parts: Committer = self._files.create_committer()
        if self._overwrites:
            parts = OverwritingCommitter(parts, None if self._keys else self._base)
        return parts if self._commit is None else PartitionCommitter(parts, self._base, self._commit)


class _Writer(ColumnWriter):
    def __init__(
        self,
        files: FileWriter,
        row: RowType,
        keys: tuple[str, ...],
        default: str,
        *,
        changes: bool,
        overwrites: bool,
    ) -> None:
        self._overwrites = overwrites
        self._files = files
        self._changes = changes
        names = [field.name for field in row.fields]
        self._keys = [(name, row.fields[names.index(name)].type) for name in keys]
        self._kept = [name for name in names if name not in keys]
        self._names = names
        self._default = default

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Write the rows into the parts of their partitions."""
        if kinds is not None and kinds.any() and not self._changes:
            raise UnsupportedError(
                "cannot take updates", who="a table of files", hint="it takes inserts only"
            )
        if not rows.num_rows:
            return
        rows = rows.rename_columns(self._names)
        if not self._keys:
            self._write_to("", RowsToWrite(rows, kinds))
            return
        for bucket, part in self._partitions(rows, kinds):
            self._write_to(bucket, part)

    def _write_to(self, bucket: str, rows: RowsToWrite) -> None:
        self._files.write_to(bucket, rows)

    def _partitions(self, rows: pa.RecordBatch, kinds: Kinds | None) -> Iterator[tuple[str, RowsToWrite]]:
        codes, found = self._codes(rows)
        in_order = RowsToWrite(rows.select(self._kept), kinds)
        if (np.diff(codes) < 0).any():
            order = np.argsort(codes, kind="stable")
            in_order = RowsToWrite(
                in_order.rows.take(pa.array(order)), None if kinds is None else kinds[order]
            )
        start = 0
        for values, count in zip(found, np.bincount(codes).tolist(), strict=True):
            yield self._bucket(values), in_order[start : start + count]
            start += count

    def _codes(self, rows: pa.RecordBatch) -> tuple[Codes, list[list[str]]]:
        """Return a number for each row's partition, from 0 on as they come first, and the texts of their values."""
        codes, found = np.zeros(rows.num_rows, np.int64), [list[str]()]
        for name, kind in self._keys:
            indices, texts = _different(rows.column(name), kind)
            encoded = pa.array(codes * len(texts) + indices).dictionary_encode()
            pairs = [divmod(number, len(texts)) for number in encoded.dictionary.to_pylist()]
            codes = encoded.indices.to_numpy().astype(np.int64)
            found = [[*found[before], texts[place]] for before, place in pairs]
        return codes, found

    def _bucket(self, values: Sequence[str]) -> str:
        return bucket_of([name for name, _ in self._keys], values, self._default)

    def prepare_commit(self) -> Sequence[Any]:
        return [*self._files.prepare_commit(), *([Overwrite()] if self._overwrites else ())]

    def snapshot_state(self) -> Any:
        return self._files.snapshot_state()

    def next_wakeup(self) -> int | None:
        return self._files.next_wakeup()

    def abort(self) -> None:
        self._files.abort()


class _CommittingWriter(_Writer):
    """Notes when partitions are due to be committed."""

    def __init__(
        self,
        files: FileWriter,
        row: RowType,
        keys: tuple[str, ...],
        default: str,
        facts: EpochFacts,
        waiting: WaitingPartitions,
        *,
        changes: bool,
        overwrites: bool,
    ) -> None:
        super().__init__(files, row, keys, default, changes=changes, overwrites=overwrites)
        self._facts = facts
        self._waiting = waiting
        self._watermark = MIN_WATERMARK

    def _write_to(self, bucket: str, rows: RowsToWrite) -> None:
        self._waiting.add(bucket, self._facts.processing_time)
        super()._write_to(bucket, rows)

    def advance_watermark(self, watermark: int) -> None:
        self._watermark = watermark

    def prepare_commit(self) -> Sequence[Any]:
        now, final = self._facts.processing_time, self._facts.final
        note = self._waiting.take_due(now, self._watermark, final=final)
        self._files.end_buckets(note.due)
        return [*super().prepare_commit(), note]

    def snapshot_state(self) -> Any:
        return PartitionedState(super().snapshot_state(), self._waiting.created)

    def next_wakeup(self) -> int | None:
        times = (super().next_wakeup(), self._waiting.next_due())
        return min((time for time in times if time is not None), default=None)


def bucket_of(keys: Sequence[str], values: Sequence[str], default: str) -> str:
    """Return the directory of a partition below that of its table.

    >>> bucket_of(["day", "name"], ["2024-01-01", ""], "none")
    'day=2024-01-01/name=none'
    """
    pairs = zip(keys, values, strict=True)
    return "/".join(f"{_escaped(name)}={_escaped(value) or default}" for name, value in pairs)


def _different(column: pa.Array, kind: LogicalType) -> tuple[Codes, list[str]]:
    """Return the different texts of a column, and for each row which of them is its; NULL is an empty one."""
    encoded = column.dictionary_encode("encode")
    texts = cast_to_string(encoded.dictionary, kind).fill_null("").dictionary_encode()
    indices = texts.indices.to_numpy()[encoded.indices.to_numpy()]
    return indices.astype(np.int64), texts.dictionary.to_pylist()


def _escaped(text: str) -> str:
    """Return a text as a part of a path.

    >>> _escaped("a/b c=d")
    'a%2Fb c%3Dd'
    """
    return "".join(quote(char, safe="") if char in _ESCAPED else char for char in text)
