"""Files as the source of a table: columns of their rows, of partitions in their paths, and of metadata."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final, Literal
from urllib.parse import unquote

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
from firesteel.connectors.tables.wanted_fields import WantedFields, type_at
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.source import Boundedness, DiscoveryContext, Split

_TEXT: Final = STRING.copy(nullable=False)

METADATA: Final[dict[str, LogicalType]] = {
    "file.path": _TEXT,
    "file.name": _TEXT,
    "file.size": BigIntType(nullable=False),
    "file.modification-time": LocalZonedTimestampType(3, nullable=False),
}
"""What is known of a row's file, by name, with its type."""

_VALUES: Final[dict[str, Callable[[SourceFile], Any]]] = {
    "file.path": lambda file: f"file:{file.path}",
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

    `columns` are those that are read, `row` the type of the rows in the files. A partition's value is in a directory's
    name, `key=value`; NULL there is `default_partition`.
    """

    def __init__(
        self,
        path: str,
        row: RowType,
        columns: Sequence[FileColumn],
        reader: Reader,
        *,
        interval: int | None = None,
        default_partition: str,
    ) -> None:
        self._arguments = (path, row)
        self._options: dict[str, Any] = {"interval": interval, "default_partition": default_partition}
        self._columns = tuple(columns)
        self._reader = reader
        self._default = default_partition
        self._wanted = WantedFields(
            row, [(column.name, column.fields) for column in columns if column.kind == "row"]
        )
        besides = [column.name for column in columns if column.kind == "message"]
        format_of = reader(self._wanted.row, self._wanted.columns, besides)
        self._files: FileSource[Rows] = FileSource([path], format_of, interval)
        self._schema = pa.schema([column.arrow for column in columns])
        self.unit = self._files.unit
        self.discovery_interval = self._files.discovery_interval

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED unless new files are looked for."""
        return self._files.boundedness

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the parts of those current files that are not known yet."""
        return self._files.splits(known)

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return the parts of files that are not known yet, at most one part of a file per subtask."""
        return self._files.discover(context)

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the end of the part."""
        return self._files.available(split, position, now)

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        file: SourceFile = split.payload[0]
        constants = {
            column.name: self._constant(column, file)
            for column in self._columns
            if column.kind in ("partition", "metadata")
        }
        batches = self._files.read(split, start, end)
        while True:
            try:
                found = next(batches)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            for given in found:
                rows, kinds = given if isinstance(given, tuple) else (given, None)
                yield self._completed(rows, constants), kinds

    def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:
        """Return a source of these columns; None if none of them is in the rows of the files."""
        return self.with_fields(tuple((place,) for place in columns))

    def with_fields(self, paths: tuple[tuple[int, ...], ...]) -> ColumnSource | None:
        """Return a source of what is at these paths; None if none of it is in the rows of the files."""
        kept = [replace(self._columns[place], fields=tuple(fields)) for place, *fields in paths]
        if not any(column.kind == "row" for column in kept):
            return None
        return FileTableSource(*self._arguments, kept, self._reader, **self._options)

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
        arrow = to_arrow(column.type)
        if column.kind == "metadata":
            return pa.scalar(_VALUES[column.name](file), arrow)
        for part in reversed(PurePosixPath(file.path).parent.parts):
            key, found, value = part.partition("=")
            if found and unquote(key) == column.name:
                return self._partition_value(unquote(value), column, file)
        raise ConnectorError(
            f"requires a directory '{column.name}=...' in the path of each file",
            who="the partitioned table",
            got=file.path,
        )

    def _partition_value(self, text: str, column: FileColumn, file: SourceFile) -> pa.Scalar:
        arrow = to_arrow(column.type)
        if text == self._default:
            return pa.scalar(None, arrow)
        try:
            return pa.scalar(text).cast(arrow)
        except pa.ArrowInvalid as error:
            raise ConnectorError(
                f"requires a value of type {column.type} for the partition {column.name!r}",
                who=f"file {file.path}",
                got=repr(text),
            ) from error
