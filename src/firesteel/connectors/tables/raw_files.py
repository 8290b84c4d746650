"""The format 'raw' of files: each line is one value, as its bytes (Flink: RawFormatFactory).

As in Flink, a line ends with `\\n` whatever its value is: bytes and numbers with such a byte in them are not what they
were when they are read again. A `\\r` before the end of a line belongs to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConnectorError
from firesteel.common.logical_types import RowType
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat, LineFormat
from firesteel.connectors.files.lines import feed_lines
from firesteel.connectors.files.parts import PartFormat
from firesteel.connectors.tables.column_parts import TextParts
from firesteel.connectors.tables.file_formats import BLOCK, Rows, TableFormat
from firesteel.connectors.tables.messages.message_format import BadMessage, MessageDecoder
from firesteel.connectors.tables.messages.raw_messages import RawFormat
from firesteel.connectors.tables.options import Options


class RawFileFormat(TableFormat):
    """A value of the only column on each line. A table with partitions has their columns besides."""

    name = RawFormat.name
    bulk = False
    options = RawFormat.options

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader. Raises UnsupportedError for rows of several columns, and for types that raw lacks."""
        return _RawLines(RawFormat().decoder(options, row), wanted=bool(wanted))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer. Raises UnsupportedError for rows of several columns, and for types that raw lacks."""
        return TextParts(row, _lines, RawFormat().encoder(options, row))


class _RawLines(LineFormat[Rows]):
    """Lines as values; without the column, as rows that have nothing."""

    block = BLOCK
    feeds_only = True

    def __init__(self, decoder: MessageDecoder, *, wanted: bool) -> None:
        self._decoder = decoder
        self._wanted = wanted

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[Rows]:
        """Return the rows of a block. Raises ConnectorError for a line that is no value of the column's type."""
        lines = pa.array(feed_lines(block), pa.binary())
        found = self._decoder.decode(lines)
        if isinstance(found, BadMessage):
            raise found.error(f"line {found.index + 1} after byte {position} of file {file.path}")
        return [found.rows if self._wanted else found.rows.select([])]


def _lines(rows: pa.RecordBatch, row: RowType, encoder: Any) -> pa.Array:
    del row
    values = encoder.encode(rows)
    if values.null_count:
        raise ConnectorError("requires values that are not NULL", who="the format 'raw' of files", got="NULL")
    return pc.binary_join_element_wise(values, b"\n", b"")
