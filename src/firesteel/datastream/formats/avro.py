"""Avro (PyFlink: pyflink.datastream.formats.avro)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NoReturn

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.datastream.formats.avro_rows import AvroRowDeserializationSchema, AvroRowSerializationSchema

__all__ = [
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
    "AvroInputFormat",
    "AvroBulkWriters",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
]

NO_AVRO: Final = "Avro data is not part of this version"


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


class _NoAvro:
    """A class whose constructor raises UnsupportedError."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        del arguments, named
        raise UnsupportedError("is not supported", who=type(self).__name__, hint=NO_AVRO)


class GenericRecordAvroTypeInfo(_NoAvro):
    """The type of Avro records: not supported."""


class AvroInputFormat(_NoAvro):
    """Reads Avro files: not supported."""


class AvroBulkWriters:
    """Writes Avro files: not supported."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError("is not supported", who="AvroBulkWriters", got=str(schema), hint=NO_AVRO)
