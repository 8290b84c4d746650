"""Files as the source of a table: columns of their rows, of partitions in their paths, and of metadata."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import pyarrow as pa

from firesteel.common.errors import ConnectorError
from firesteel.common.logical_types import (
    STRING,
    BigIntType,
    Field,
    LocalZonedTimestampType,
    LogicalType,
    RowType,
)
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.tables.file_formats import Rows
from firesteel.connectors.tables.file_partitions import FilePartitions
from firesteel.connectors.tables.wanted_fields import WantedFields, dotted, type_at
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.columns.pushdowns import Condition, Partition, PartitionChoice
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics
from firesteel.functions.source import END_OF_SPLIT, Boundedness, DiscoveryContext, Split

_TEXT: Final = STRING.copy(nullable=False)

METADATA: Final[dict[str, LogicalType]] = {
    "file.path": _TEXT,
    "file.name": _TEXT,
    "file.size": BigIntType(nullable=False),
    "file.modification-time": LocalZonedTimestampType(3, nullable=False),
}
"""What is known of a row's file, by name, with its type."""

_VALUES: Final[dict[str, Callable[[SourceFile], Any]]] = {
    "file.path": lambda file: f"file:{file.path}" if file.path.startswith("/") else file.path,
    "file.name": lambda file: PurePosixPath(file.path).name,
    "file.size": lambda file: file.size,
    "file.modification-time": lambda file: dt.datetime.fromtimestamp(
        file.modified // 1_000_000 / 1000, dt.UTC
    ),
}


@dataclass(frozen=True)
class FileColumn:
    """A column of a table of files: of the rows in them, of their messages, a partition's, or metadata, by its name.

    Of a column of rows, `fields` is the path to the value within it: places of fields in fields.
    """

    name: str
    type: LogicalType
    kind: Literal["row", "message", "partition", "metadata"] = "row"
    fields: tuple[int, ...] = ()

    @property
    def arrow(self) -> pa.Field:
        """Return the column as it is read."""
        kind = type_at(self.type, self.fields)
        return to_arrow_schema(RowType((Field(self.name, kind),), nullable=False)).field(0)


Reader = Callable[[RowType, Sequence[int], Sequence[str]], FileFormat[Rows]]
"""Makes the format that reads some columns (places) of rows of a type, and then what messages have besides rows."""


class FileTableSource(ColumnSource):
    """Rows of files; see `FileSource` for paths and for how new files are found.

    `columns` are those that are read, `row` the type of the rows in the files. With `partitions`, only files of those
    are opened. Of Parquet, most rows without `condition` are passed over. With `limit`, no file is read any
    more than so many rows, and no more files than have so many rows if their numbers are known.
    """

    def __init__(
        self,
        path: str,
        row: RowType,
        columns: Sequence[FileColumn],
        reader: Reader,
        partitions: FilePartitions,
        *,
        interval: int | None = None,
        condition: Condition | None = None,
        limit: int | None = None,
    ) -> None:
        self._path = path
        self._row = row
        self._columns = tuple(columns)
        self._reader = reader
        self._partitions = partitions
        self._interval = interval
        self._condition = condition
        self._limit = limit
        self._wanted = WantedFields(
            row, [(column.name, column.fields) for column in columns if column.kind == "row"]
        )
        besides = [column.name for column in columns if column.kind == "message"]
        given = reader(self._wanted.row, self._wanted.columns, besides)
        format_of = given if condition is None else given.filtered(condition) or given
        self._files: FileSource[Rows] = FileSource([path], format_of, interval, choose=partitions.of_files)
        self._schema = pa.schema([column.arrow for column in columns])
        self.unit = self._files.unit
        self.discovery_interval = self._files.discovery_interval

    def _with(
        self,
        *,
        path: str | None = None,
        columns: Sequence[FileColumn] | None = None,
        partitions: FilePartitions | None = None,
        condition: Condition | None = None,
        limit: int | None = None,
    ) -> FileTableSource:
        """Return the same source with something else."""
        return FileTableSource(
            self._path if path is None else path,
            self._row,
            self._columns if columns is None else columns,
            self._reader,
            self._partitions if partitions is None else partitions,
            interval=self._interval,
            condition=condition or self._condition,
            limit=self._limit if limit is None else limit,
        )

    def at(self, path: str) -> FileTableSource:
        """Return the same source of the files at another path."""
        return self._with(path=path)

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED unless new files are looked for."""
        return self._files.boundedness

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the parts of those current files that are not known yet."""
        return self._enough(self._files.splits(known))

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return the parts of files that are not known yet, at most one part of a file per subtask."""
        return self._enough(self._files.discover(context))

    def _enough(self, splits: Iterable[Split]) -> Iterator[Split]:
        """Yield the first splits that have the rows of the limit, if positions are rows."""
        rows = 0
        for split in splits:
            if self._limit is not None and rows >= self._limit:
                return
            yield self._marked(split)
            if self.unit == "records" and split.end is not None:
                rows += split.end - split.start

    def _marked(self, split: Split) -> Split:
        """Return a split that says by which choice it was found, so that a reader need not ask again."""
        mark = self._partitions.mark
        return replace(split, payload=(*split.payload, *mark)) if mark else split

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the end of the part."""
        return self._files.available(split, position, now)

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        file, detail, *mark = split.payload
        if mark != self._partitions.mark and not self._partitions.of_files([file.path]):
            return END_OF_SPLIT  # a file of another choice, which an earlier version of the query had begun
        split = replace(split, payload=(file, detail))
        constants = {
            column.name: self._constant(column, file)
            for column in self._columns
            if column.kind in ("partition", "metadata")
        }
        batches, left = self._files.read(split, start, end), self._limit
        while left is None or left > 0:
            try:
                found = next(batches)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            for given in found:
                rows, kinds = given if isinstance(given, tuple) else (given, None)
                if left == 0:
                    break
                if left is not None:
                    rows = rows.slice(0, left)
                    left -= rows.num_rows
                yield self._completed(rows, constants), kinds
        batches.close()
        return END_OF_SPLIT

    def projected(self, columns: tuple[int, ...]) -> FileTableSource | None:
        """Return a source of these columns; None if none of them is in the rows of the files."""
        return self.with_fields(tuple((place,) for place in columns))

    def with_fields(self, paths: tuple[tuple[int, ...], ...]) -> FileTableSource | None:
        """Return a source of what is at these paths; None if none of it is in the rows of the files."""
        kept = [replace(self._columns[place], fields=tuple(fields)) for place, *fields in paths]
        if not any(column.kind == "row" for column in kept):
            return None
        return self._with(columns=kept)

    def partitioned(self, choice: PartitionChoice) -> ColumnSource | None:
        """Return a source of the files of some partitions; None if the table has none."""
        return self._with(partitions=self._partitions.chosen(choice)) if self._partitions else None

    @property
    def partitions(self) -> list[Partition]:
        """Return the partitions whose directories are there now and are read."""
        return self._partitions.below(self._path) if self._partitions else []

    def filtered(self, condition: Condition) -> FileTableSource | None:
        """Return a source that passes over some rows without the condition; None if the format cannot."""
        if self._condition is not None or self._files.format.filtered(condition) is None:
            return None
        return self._with(condition=condition)

    def limited(self, rows: int) -> FileTableSource:
        """Return a source of the first rows of files that have inserts."""
        return self._with(limit=rows)

    def statistics(self) -> TableStatistics | None:
        """Return what is known of the files that there are; None if they cannot be looked at now."""
        names = {
            place: dotted(self._row, column.name, column.fields)
            for place, column in enumerate(self._columns)
            if column.kind == "row"
        }
        try:
            sizes = self._files.sizes()
            found = self._files.format.statistics(sizes, [*names.values()])
        except (ConnectorError, OSError):
            return None  # whoever reads them will say what is wrong
        if found is None:
            return None
        known = dict(zip(names, found.columns, strict=False))
        columns = tuple(known.get(place, ColumnStatistics()) for place in range(len(self._columns)))
        rows = found.rows if self._limit is None else min(found.rows, self._limit)
        return replace(found, rows=rows, columns=columns, parts=len(sizes))

    def _completed(self, rows: pa.RecordBatch, constants: dict[str, pa.Scalar]) -> pa.RecordBatch:
        if not constants and rows.schema == self._schema:
            return rows
        count = len(self._wanted.columns)
        given = {"row": iter(self._wanted.of(rows)), "message": iter(rows.columns[count:])}
        columns = [
            next(given[column.kind])
            if column.kind in given
            else pa.repeat(constants[column.name], rows.num_rows)
            for column in self._columns
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _constant(self, column: FileColumn, file: SourceFile) -> pa.Scalar:
        if column.kind == "metadata":
            return pa.scalar(_VALUES[column.name](file), to_arrow(column.type))
        return self._partitions.value(column.name, file.path)
