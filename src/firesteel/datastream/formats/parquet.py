"""Parquet files (PyFlink: pyflink.datastream.formats.parquet)."""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import UnsupportedError
from firesteel.connectors.files.parquet_files import ParquetFormat, ParquetParts
from firesteel.connectors.files.parquet_records import ParquetRecordParts, ParquetRecords
from firesteel.connectors.tables.formats.avro.schema import require_fastavro
from firesteel.datastream.connectors.file_sinks import PartWriterFactory
from firesteel.datastream.connectors.file_sources import BulkFormat, StreamFormat
from firesteel.datastream.formats.avro import AvroSchema
from firesteel.datastream.formats.avro_parquet import AvroRows
from firesteel.datastream.formats.row_types import require_row_type

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetColumnarRowInputFormat", "ParquetBulkWriters"]


class AvroParquetReaders:
    """Reads the rows of Parquet files as records of Avro, which are dictionaries."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Read the columns that the schema has, by their names, with the types that it says.

        Files may be of parquet-avro or of others. Raises UnsupportedError for a schema that refers to itself or has a
        union of several types; a file without one of the columns raises ConnectorError.
        """
        rows = _rows(schema, "AvroParquetReaders")
        return StreamFormat(ParquetRecords(rows.arrow, rows.record))


class AvroParquetWriters:
    """Writes records of Avro, which are dictionaries, as the rows of Parquet files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> PartWriterFactory:
        """Write files that have the schema, compressed with Snappy.

        Raises UnsupportedError as the readers do. A record that is not of the schema raises TypeMismatchError when it
        is written.
        """
        rows = _rows(schema, "AvroParquetWriters")
        return PartWriterFactory(ParquetRecordParts(rows.arrow, rows.cells))


def _rows(schema: AvroSchema, who: str) -> AvroRows:
    require_fastavro(who)
    return AvroRows(str(schema), who)


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads the columns of `row_type` from Parquet files as Rows, `batch_size` at a time.

    `row_type` is a `Types.ROW_NAMED` or a `DataTypes.ROW`, with nested types. The Hadoop configuration is not used;
    timestamps are those of the file, without a zone. Raises UnsupportedError if names are to be case-insensitive.
    """

    def __init__(
        self,
        row_type: Any,
        hadoop_config: Any = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        del hadoop_config, is_utc_timestamp
        if not is_case_sensitive:
            raise UnsupportedError(
                "requires is_case_sensitive=True", who="ParquetColumnarRowInputFormat", got="False"
            )
        super().__init__(
            ParquetFormat(require_row_type(row_type, "ParquetColumnarRowInputFormat"), batch_size)
        )


class ParquetBulkWriters:
    """Writes Rows as Parquet files."""

    @staticmethod
    def for_row_type(
        row_type: Any, hadoop_config: Any = None, utc_timestamp: bool = False
    ) -> PartWriterFactory:
        """Write files of this `Types.ROW_NAMED` or `DataTypes.ROW`.

        The Hadoop configuration is accepted and not used; times have no zone.
        """
        del hadoop_config, utc_timestamp
        rows = require_row_type(row_type, "ParquetBulkWriters.for_row_type")
        return PartWriterFactory(ParquetParts(rows), rows)
