"""CSV files and messages (PyFlink: pyflink.datastream.formats.csv)."""

from firesteel.datastream.formats.csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema
from firesteel.datastream.formats.csv_schema import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    CsvSchemaBuilder,
)

__all__ = [
    "CsvSchema",
    "CsvSchemaBuilder",
    "CsvReaderFormat",
    "CsvBulkWriters",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
]
