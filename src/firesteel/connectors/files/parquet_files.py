"""Parquet files, read by row groups; one file is written per epoch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from firesteel.common.typeinfo import RowTypeInfo
from firesteel.common.types import Row, make_row
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import WAITING, FileFormat, Part
from firesteel.connectors.files.parquet_reading import PartReader, opened, unreadable
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.connectors.files.record_columns import ROW_GROUP, RecordWriter, row_cells
from firesteel.connectors.files.row_groups import chunks_of, extents_of, may_have
from firesteel.connectors.files.systems import ChangedError, system_of
from firesteel.formats.arrow import arrow_schema
from firesteel.functions.columns.pushdowns import Condition, Extent
from firesteel.functions.columns.statistics import TableStatistics, of_extents
from firesteel.functions.source import RecordBatches

_BATCH = 4096
_COLUMN_BATCH = 1 << 17
_MOST_ROW_GROUP = 1 << 20
_FOOTERS: Final = 64
"""Files whose footers are read when a query is planned."""

_FAR_FOOTERS: Final = 8
"""The same where each takes a request to a store."""

T = TypeVar("T")


class ParquetBatches(FileFormat[T]):
    """What formats of Parquet have in common. A part is some neighbouring row groups; positions are rows of a part.

    Row groups whose statistics say that no row meets `condition` are passed over, and most other rows that do not.
    """

    condition: Condition | None = None

    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        with opened(file) as parquet:
            metadata = parquet.metadata
        groups: list[int] = []
        rows = bytes_ = 0
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            if groups and size is not None and bytes_ + group.total_byte_size > size:
                yield Part(0, rows, tuple(groups))
                groups, rows, bytes_ = [], 0, 0
            groups.append(index)
            rows += group.num_rows
            bytes_ += group.total_byte_size
        if rows:
            yield Part(0, rows, tuple(groups))

    def statistics(self, sizes: Mapping[str, int], columns: Sequence[str]) -> TableStatistics | None:
        """Return what footers say of the row groups that would be read.

        Of more files than some, every nth one is looked at, and the others are taken to be like them.
        """
        paths = sorted(sizes)
        most = _FOOTERS if not paths or system_of(paths[0]).is_near else _FAR_FOOTERS
        looked_at = paths[:: -(-len(paths) // most) or 1]
        rows = read = 0
        extents: list[Sequence[Extent | None]] = []
        for path in looked_at:
            with opened(SourceFile.discover(path)) as parquet:
                metadata = parquet.metadata
            for group in range(metadata.num_row_groups):
                if may_have(metadata, group, self.condition):
                    rows += metadata.row_group(group).num_rows
                    read += sum(
                        chunk.total_compressed_size for chunk in chunks_of(metadata.row_group(group), columns)
                    )
                    extents.append(extents_of(metadata, group, columns))
        factor = sum(sizes.values()) / max(sum(sizes[path] for path in looked_at), 1)
        if len(looked_at) == len(paths):
            factor = 1
        known = zip(*extents, strict=True) if extents else ([] for _ in columns)
        return TableStatistics(rows * factor, read * factor, tuple(map(of_extents, known)))

    def batches(
        self, file: SourceFile, detail: Any, start: int, end: int, schema: pa.Schema | None, size: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range as columns: those of the schema, converted to it, or all as they are."""
        key = ("parquet", file, detail, repr(schema), size, self.condition)
        reader = WAITING.take(key, start)
        if reader is None:
            file.check()
            reader = PartReader(file, detail, schema, size, self.condition)
        with WAITING.keeping(key, end, reader) as kept:
            try:
                yield from reader.batches(start, end)
            except (ChangedError, FileNotFoundError):
                raise file.changed("other content") from None
            except pa.ArrowException as error:
                raise unreadable(file, error) from error
            kept.keep = not reader.at_end


class ParquetFormat(ParquetBatches[Row]):
    """Each row of a Parquet file is a Row with the names of its columns.

    With a row type only its columns are read, and they must exist; their values are converted to it. Raises
    ConnectorError for a file that is not Parquet or lacks a column.
    """

    produced_type: RowTypeInfo | None

    def __init__(self, row_type: RowTypeInfo | None = None, batch_size: int = _BATCH) -> None:
        self.produced_type = row_type
        self._batch_size = batch_size

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[Row]:
        row_type = self.produced_type
        schema = None if row_type is None else arrow_schema(row_type)
        nested = schema is not None and any(pa.types.is_nested(field.type) for field in schema)
        coerce = row_type.compile_coercer() if row_type is not None and nested else None
        for batch in self.batches(file, detail, start, end, schema, self._batch_size):
            names = batch.schema.names
            values = [column.to_pylist(maps_as_pydicts="strict") for column in batch.columns]
            rows = [make_row(names, list(fields)) for fields in zip(*values, strict=True)]
            yield rows if coerce is None else list(map(coerce, rows))
        return None


class ParquetColumns(ParquetBatches[pa.RecordBatch]):
    """The columns of a schema, by their names and converted to it, up to a hundred thousand rows at a time."""

    def __init__(self, schema: pa.Schema, condition: Condition | None = None) -> None:
        self._schema = schema
        self.condition = condition

    def filtered(self, condition: Condition) -> ParquetColumns:
        """Return a format that reads only what can have rows of a condition."""
        return ParquetColumns(self._schema, condition)

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[pa.RecordBatch]:
        for batch in self.batches(file, detail, start, end, self._schema, _COLUMN_BATCH):
            yield [batch]
        return None


class ParquetRowGroups(PartFormat):
    """Columns of a schema as Parquet part files.

    A part of several epochs has one file per epoch; they are joined row group by row group when the part becomes
    visible.
    """

    def __init__(self, schema: pa.Schema, compression: str = "snappy") -> None:
        self._schema = schema
        self._compression = compression

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return _ColumnWriter(file, self._schema, self._compression)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file with the rows of all segments."""
        with pq.ParquetWriter(target, self._schema, compression=self._compression) as writer:
            for segment in segments:
                with pq.ParquetFile(segment) as parquet:
                    for batch in parquet.iter_batches(ROW_GROUP):
                        writer.write_batch(batch)


class ParquetParts(ParquetRowGroups):
    """Rows of a type as Parquet part files (compressed with Snappy)."""

    def __init__(self, row_type: RowTypeInfo) -> None:
        super().__init__(arrow_schema(row_type))
        self._row_type = row_type

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return RecordWriter(
            file, self._schema, row_cells(self._row_type), pq.ParquetWriter(file, self._schema)
        )


class _ColumnWriter(PartWriter):
    """Writes what has `rows`, a record batch."""

    def __init__(self, file: BinaryIO, schema: pa.Schema, compression: str) -> None:
        self._file = file
        self._schema = schema
        self._writer = pq.ParquetWriter(file, schema, compression=compression)
        self._held: list[pa.RecordBatch] = []
        self._count = 0

    def write(self, values: Any, limit: int | None) -> int:
        del limit
        self._held.append(values.rows)
        self._count += len(values)
        if self._count >= ROW_GROUP:
            self._write_group()
        return len(values)

    def _write_group(self) -> None:
        batches = [pa.RecordBatch.from_arrays(batch.columns, schema=self._schema) for batch in self._held]
        self._writer.write_table(pa.Table.from_batches(batches, self._schema), row_group_size=_MOST_ROW_GROUP)
        self._held = []
        self._count = 0
        self.size = self._file.tell()

    def finish(self) -> None:
        if self._held:
            self._write_group()
        self._writer.close()

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.close()
