"""How rows become ORC files, by Arrow's writer."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.orc as orc

from firesteel.common.typeinfo import RowTypeInfo
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.connectors.files.record_columns import RecordWriter, row_cells
from firesteel.formats.arrow import arrow_schema

_HELD: Final = 1 << 16


def cast_column(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column as one of another type; digits of seconds that this does not have are cut off."""
    return column.cast(kind, safe=not pa.types.is_timestamp(kind))


class OrcParts(PartFormat):
    """Columns of a schema as ORC part files; segments are joined stripe by stripe."""

    def __init__(self, schema: pa.Schema, compression: str) -> None:
        self._schema = pa.schema([(field.name, field.type) for field in schema])
        self._compression = compression

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return _ColumnWriter(file, self._schema, self._compression)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file with the rows of all segments."""
        with orc.ORCWriter(target, compression=self._compression) as writer:
            for segment in segments:
                read = orc.ORCFile(segment)
                for stripe in range(read.nstripes):
                    writer.write(pa.Table.from_batches([read.read_stripe(stripe)]))
                if not read.nstripes:
                    writer.write(self._schema.empty_table())


class _ColumnWriter(PartWriter):
    """Writes what has `rows`, a record batch."""

    def __init__(self, file: BinaryIO, schema: pa.Schema, compression: str) -> None:
        self._file = file
        self._schema = schema
        self._writer = orc.ORCWriter(file, compression=compression)
        self._held: list[pa.RecordBatch] = []
        self._count = 0

    def write(self, values: Any, limit: int | None) -> int:
        del limit
        columns = [cast_column(*pair) for pair in zip(values.rows.columns, self._schema.types, strict=True)]
        self._held.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._count += len(values)
        if self._count >= _HELD:
            self._write()
        return len(values)

    def _write(self) -> None:
        self._writer.write(pa.Table.from_batches(self._held, self._schema))
        self._held, self._count = [], 0
        self.size = self._file.tell()

    def finish(self) -> None:
        if self._held:
            self._write()
        self._writer.close()

    def abort(self) -> None:
        with contextlib.suppress(OSError, pa.ArrowException):
            self._writer.close()


class OrcRecordParts(OrcParts):
    """Rows of a type of streams as ORC part files."""

    def __init__(self, row_type: RowTypeInfo, compression: str) -> None:
        super().__init__(arrow_schema(row_type), compression)
        self._row_type = row_type

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return RecordWriter(file, self._schema, row_cells(self._row_type), _Batches(file, self._compression))


class _Batches:
    """Takes record batches, as Parquet's writer does."""

    def __init__(self, file: BinaryIO, compression: str) -> None:
        self._writer = orc.ORCWriter(file, compression=compression)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._writer.write(pa.Table.from_batches([batch]))

    def close(self) -> None:
        self._writer.close()
