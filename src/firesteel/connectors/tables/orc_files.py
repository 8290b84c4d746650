"""The format 'orc' of files, by Arrow's reader and writer (Flink: OrcFileFormatFactory)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.orc as orc

from firesteel.common.errors import ConnectorError, UnsupportedError
from firesteel.common.logical_types import LogicalTypeRoot, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import WAITING, FileFormat, Part
from firesteel.connectors.files.orc_parts import OrcParts, cast_column
from firesteel.connectors.files.parts import PartFormat
from firesteel.connectors.tables.file_formats import Rows, TableFormat
from firesteel.connectors.tables.options import Options, choice
from firesteel.functions.source import END_OF_SPLIT, RecordBatches

_COMPRESSION: Final = choice(
    "orc.compress",
    *("ZLIB", "SNAPPY", "LZ4", "ZSTD", "NONE"),
    about="How files that are written are compressed. Files of all these kinds are read.",
).by_default("ZLIB")
_BATCH: Final = 1 << 15
_UNSTORED: Final = (
    *(
        LogicalTypeRoot.TIME_WITHOUT_TIME_ZONE,
        LogicalTypeRoot.MULTISET,
        LogicalTypeRoot.RAW,
        LogicalTypeRoot.NULL,
    ),
    *(LogicalTypeRoot.INTERVAL_YEAR_MONTH, LogicalTypeRoot.INTERVAL_DAY_TIME),
)


class OrcFileFormat(TableFormat):
    """Files of ORC; columns are found by their names."""

    name = "orc"
    bulk = True
    options = (_COMPRESSION,)

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader of the wanted columns."""
        options.know(self.options)
        return _OrcColumns(_stored(RowType(tuple(row.fields[place] for place in wanted), nullable=False)))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        compression = options.get(_COMPRESSION)
        return OrcParts(_stored(row), "uncompressed" if compression == "NONE" else compression.lower())


def _stored(row: RowType) -> pa.Schema:
    """Return the columns of rows. Raises UnsupportedError for a type that ORC lacks."""
    for field in row.fields:
        if field.type.root in _UNSTORED:
            raise UnsupportedError("is not supported by the format orc", who=f"the type {field.type}")
    return to_arrow_schema(row)


class _Stripe:
    """The rows of a stripe, as long as they are read."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = rows

    def close(self) -> None:
        """Do nothing: no file is open."""


class _OrcColumns(FileFormat[Rows]):
    """A part is a stripe; positions are rows of it."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        """Return the stripes."""
        return [Part(0, None, stripe) for stripe in range(_open(file).nstripes)]

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[Rows]:
        """Yield the rows of a range of a stripe."""
        key = ("orc", file, detail, repr(self._schema))
        stripe = WAITING.take(key, start)
        if stripe is None:
            file.check()
            stripe = _Stripe(self._rows(file, detail))
        count = stripe.rows.num_rows
        with WAITING.keeping(key, end, stripe) as kept:
            for first in range(start, min(end, count), _BATCH):
                yield [stripe.rows.slice(first, min(_BATCH, end - first))]
            kept.keep = end < count
        return END_OF_SPLIT if end >= count else None

    def _rows(self, file: SourceFile, stripe: int) -> pa.RecordBatch:
        found = _open(file)
        missing = [name for name in self._schema.names if name not in found.schema.names]
        if missing:
            raise ConnectorError(
                f"requires the columns {', '.join(missing)}",
                who=f"file {file.path}",
                got=f"the columns {', '.join(found.schema.names)}",
            )
        try:
            # Without columns the rows still count.
            names = self._schema.names or found.schema.names[:1]
            rows = found.read_stripe(stripe, columns=names)
            # The reader makes nanoseconds of all timestamps.
            columns = [cast_column(rows.column(field.name), field.type) for field in self._schema]
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(file, error) from error
        if not columns:
            return rows.select([])
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _open(file: SourceFile) -> Any:
    try:
        return orc.ORCFile(file.seekable())
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: SourceFile, error: Exception) -> ConnectorError:
    return ConnectorError("requires an ORC file that is whole", who=f"file {file.path}", got=str(error))
