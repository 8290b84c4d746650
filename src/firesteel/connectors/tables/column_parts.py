"""Columns as part files of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.functions.columns.endpoints import Kinds

Encode = Callable[[pa.RecordBatch, RowType, Any], pa.Array]
"""Returns the lines of rows of a type, each with its end; the last argument are the format's settings."""


class RowsToWrite:
    """Rows that a file writer takes some of, from the first, and the kinds of their changes (None: inserts)."""

    __slots__ = ("kinds", "rows")

    def __init__(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> None:
        self.rows = rows
        self.kinds = kinds

    @staticmethod
    def none(row: RowType) -> RowsToWrite:
        """Return no rows of a type."""
        schema = to_arrow_schema(row)
        return RowsToWrite(
            pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)
        )

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def __getitem__(self, rest: slice) -> RowsToWrite:
        return RowsToWrite(self.rows[rest], None if self.kinds is None else self.kinds[rest])


class TextParts(PartFormat):
    """Rows of a type as lines of text. Raises UnsupportedError for a type that the format lacks."""

    def __init__(self, row: RowType, encode: Encode, settings: object) -> None:
        self._row = row
        self._encode = encode
        self._settings = settings
        encode(RowsToWrite.none(row).rows, row, settings)

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return TextWriter(file, lambda given: self._encode(given.rows, self._row, self._settings))


class TextWriter(PartWriter):
    """Writes rows as the lines that `encode` returns for them."""

    def __init__(self, file: BinaryIO, encode: Callable[[RowsToWrite], pa.Array]) -> None:
        self._file = file
        self._encode = encode

    def write(self, values: Any, limit: int | None) -> int:
        lines = self._encode(values)
        _, offsets, data = lines.buffers()
        ends = np.frombuffer(offsets, np.int32, len(lines) + 1, lines.offset * 4)
        count = len(lines)
        if limit is not None:
            sizes = ends[1:] - ends[0]
            count = min(count, int(np.searchsorted(sizes, limit - self.size, "right")) + 1)
        written = memoryview(data)[int(ends[0]) : int(ends[count])]
        self._file.write(written)
        self.size += len(written)
        return count

    def finish(self) -> None:
        """Do nothing: the writer buffers nothing."""
