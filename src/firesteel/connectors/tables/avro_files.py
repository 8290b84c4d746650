"""The format 'avro' of files (Flink: AvroFileFormatFactory)."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.connectors.files.avro_container import CODECS, Block, Container, Header, without_fields
from firesteel.connectors.files.avro_files import AvroFormat, BlockWriter, unreadable
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.file_formats import Rows, TableFormat
from firesteel.connectors.tables.formats.avro.derived import schema_of_row
from firesteel.connectors.tables.formats.avro.schema import require_fastavro
from firesteel.connectors.tables.formats.avro.writing import AvroWriter
from firesteel.connectors.tables.messages.avro_messages import OPTIONS, as_rows, is_legacy
from firesteel.connectors.tables.messages.avro_rows import RowsOfAvro, known_schema
from firesteel.connectors.tables.options import Options, choice

_NAME: Final = "avro"
_CODEC: Final = choice(
    "avro.codec",
    *CODECS,
    about="How files that are written are compressed. Files of all these kinds are read.",
).by_default("snappy")
_ROWS: Final = 1024
"""How many rows are written at once at most, so that blocks are of about one size."""


class AvroFileFormat(TableFormat):
    """Files of Avro; columns are found by their names, and read by Avro's rules."""

    name = _NAME
    bulk = True
    by_name = True
    options = (_CODEC, *OPTIONS)

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader of the wanted columns: others are passed over."""
        _know(options)
        read = RowType(tuple(row.fields[place] for place in wanted), nullable=False)
        return _AvroColumns(read, schema_of_row(read, is_legacy(options, _NAME)))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        _know(options)
        codec = options.get(_CODEC)
        return _AvroParts(row, Container(schema_of_row(row, is_legacy(options, _NAME)), codec))


def _know(options: Options) -> None:
    require_fastavro(f"the format {_NAME!r}")
    options.know(AvroFileFormat.options)


class _AvroColumns(AvroFormat[Rows]):
    def __init__(self, row: RowType, schema: str) -> None:
        self._row = row
        self._schema = schema
        self._rows: RowsOfAvro | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_rows": None}

    def decode(self, file: SourceFile, header: Header, block: Block) -> list[Rows]:
        """Return the rows of a block."""
        if self._rows is None:
            self._rows = RowsOfAvro(known_schema(self._schema), self._row)
        try:
            records = _records(header, block)
        except (EOFError, ValueError, IndexError, LookupError) as error:
            raise unreadable(file, block, error) from error
        found = self._rows.rows(records, known_schema(header.schema))
        if isinstance(found, tuple):
            raise unreadable(file, block, ValueError(f"record {found[0] + 1}: {found[1]}"))
        return [as_rows(found, self._row)]


def _records(header: Header, block: Block) -> pa.Array:
    """Return the records of a block one by one: a parser of C finds where each ends."""
    import fastavro

    written: Any = fastavro.parse_schema(json.loads(header.schema))
    data, none, read = io.BytesIO(block.data), without_fields(written), fastavro.schemaless_reader
    ends = np.zeros(block.count + 1, np.int32)
    for place in range(1, block.count + 1):
        read(data, written, none)
        ends[place] = data.tell()
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(block.data)]
    return pa.BinaryArray.from_buffers(pa.binary(), block.count, buffers)


class _AvroParts(PartFormat):
    def __init__(self, row: RowType, container: Container) -> None:
        self._row = row
        self._container = container
        AvroWriter(known_schema(container.schema), row).write(RowsToWrite.none(row).rows)

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        writer = AvroWriter(known_schema(self._container.schema), self._row)
        return _ColumnWriter(file, self._container, writer)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file with the rows of all segments."""
        self._container.join(segments, target)


class _ColumnWriter(BlockWriter):
    """Writes what has `rows`, a record batch."""

    def __init__(self, file: BinaryIO, container: Container, writer: AvroWriter) -> None:
        super().__init__(file, container)
        self._writer = writer

    def write(self, values: Any, limit: int | None) -> int:
        del limit
        for start in range(0, len(values), _ROWS):
            records = self._writer.write(values.rows[start : start + _ROWS])
            self.add(len(records), b"".join(records.to_pylist()))
        return len(values)
