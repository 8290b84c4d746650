"""Parquet files (PyFlink: pyflink.datastream.formats.parquet)."""

from __future__ import annotations

from typing import Any, NoReturn

from firesteel.common.errors import UnsupportedError
from firesteel.connectors.files.parquet_files import ParquetFormat, ParquetParts
from firesteel.datastream.connectors.file_sinks import PartWriterFactory
from firesteel.datastream.connectors.file_sources import BulkFormat
from firesteel.datastream.formats.row_types import require_row_type

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetColumnarRowInputFormat", "ParquetBulkWriters"]


class AvroParquetReaders:
    """Reads Parquet files as Avro records: not supported."""

    @staticmethod
    def for_generic_record(schema: Any) -> NoReturn:
        """Raises UnsupportedError."""
        del schema
        raise UnsupportedError(
            "is not supported",
            who="AvroParquetReaders.for_generic_record",
            hint="read the files as rows with ParquetColumnarRowInputFormat",
        )


class AvroParquetWriters:
    """Writes Avro records as Parquet files: not supported."""

    @staticmethod
    def for_generic_record(schema: Any) -> NoReturn:
        """Raises UnsupportedError."""
        del schema
        raise UnsupportedError(
            "is not supported",
            who="AvroParquetWriters.for_generic_record",
            hint="write rows with ParquetBulkWriters, or files of Avro with AvroBulkWriters",
        )


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads the columns of `row_type` from Parquet files as Rows, `batch_size` at a time.

    `row_type` is a `Types.ROW_NAMED`; nested types are allowed. The Hadoop configuration is accepted and not used;
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
        """Write files of this `Types.ROW_NAMED`.

        The Hadoop configuration is accepted and not used; times have no zone.
        """
        del hadoop_config, utc_timestamp
        rows = require_row_type(row_type, "ParquetBulkWriters.for_row_type")
        return PartWriterFactory(ParquetParts(rows), rows)
