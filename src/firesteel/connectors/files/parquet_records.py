"""Values of any kind as rows of Parquet files; what the columns mean is left to whoever knows the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.parquet_files import ParquetBatches, ParquetRowGroups
from firesteel.connectors.files.parts import PartWriter
from firesteel.connectors.files.record_columns import RecordWriter
from firesteel.functions.source import RecordBatches

_BATCH: Final = 4096


class ParquetRecords(ParquetBatches[Any]):
    """Makes a value of each row: `convert` gets a dictionary of the columns of `schema`; picklable if it is."""

    def __init__(self, schema: pa.Schema, convert: Callable[[dict[str, Any]], Any]) -> None:
        self._schema = schema
        self._convert = convert

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[Any]:
        """Yield the values of a range. Raises ConnectorError for a file without one of the columns."""
        for batch in self.batches(file, detail, start, end, self._schema, _BATCH):
            yield [*map(self._convert, batch.to_pylist(maps_as_pydicts="strict"))]
        return None


class ParquetRecordParts(ParquetRowGroups):
    """Writes a row for each value: `cells` makes the columns of `schema` of it; picklable if it is."""

    def __init__(self, schema: pa.Schema, cells: Callable[[Any], Sequence[Any]]) -> None:
        super().__init__(schema)
        self._cells = cells

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return RecordWriter(file, self._schema, self._cells, pq.ParquetWriter(file, self._schema))
