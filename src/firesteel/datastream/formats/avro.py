"""Avro (PyFlink: pyflink.datastream.formats.avro)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo.collections import PickledBytesTypeInfo
from firesteel.connectors.files.avro_files import AvroRecordParts, AvroRecords
from firesteel.connectors.tables.formats.avro.schema import checked_schema, require_fastavro
from firesteel.datastream.connectors.file_sinks import PartWriterFactory
from firesteel.datastream.connectors.file_sources import BulkFormat
from firesteel.datastream.formats.avro_rows import AvroRowDeserializationSchema, AvroRowSerializationSchema
from firesteel.datastream.unsupported import gap

__all__ = [
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
    "AvroInputFormat",
    "AvroBulkWriters",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
]


class AvroSchema:
    """An Avro schema.

    >>> str(AvroSchema.parse_string('{"type": "array", "items": "int"}'))
    '{"type":"array","items":"int"}'
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def __str__(self) -> str:
        return json.dumps(self.schema, separators=(",", ":"))

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Parse a schema. Raises ProgramError for text that is not JSON."""
        try:
            return AvroSchema(json.loads(json_schema))
        except ValueError as error:
            raise ProgramError("requires JSON", who="AvroSchema", got=str(error)) from error

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Parse the schema in a file. Raises ProgramError for a file that cannot be read or is not JSON."""
        try:
            return AvroSchema.parse_string(Path(file_path).read_text("utf-8"))
        except OSError as error:
            raise ProgramError(
                "requires a file that can be read", who="AvroSchema", got=str(error)
            ) from error


class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """The type of records of a schema, which are dictionaries here; they are passed on as they are.

    >>> GenericRecordAvroTypeInfo(AvroSchema.parse_string('"int"')).is_pickled
    True
    """

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema

    def _identity(self) -> Any:
        return str(self._schema)


class AvroInputFormat(BulkFormat):
    """Reads the records of files of Avro as dictionaries, for `StreamExecutionEnvironment.create_input`.

    `path` is a file, a directory or a pattern. Records are read by `schema`, whatever the one is that they were written
    with, if Avro's rules allow it. A file that is damaged, or does not fit, raises ConnectorError.
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        require_fastavro("AvroInputFormat")
        self.path = path
        self._schema = schema
        super().__init__(AvroRecords(str(schema)))

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return GenericRecordAvroTypeInfo(self._schema)

    @gap("pyflink.datastream.formats.avro.AvroInputFormat.get_java_object")
    def get_java_object(self) -> None: ...


class AvroBulkWriters:
    """Writes dictionaries as files of Avro."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> PartWriterFactory:
        """Write files with this schema, which may refer to itself, not compressed.

        A record that is not of the schema raises TypeMismatchError when it is written.
        """
        require_fastavro("AvroBulkWriters")
        checked_schema(str(schema), "AvroBulkWriters")
        return PartWriterFactory(AvroRecordParts(str(schema)))
