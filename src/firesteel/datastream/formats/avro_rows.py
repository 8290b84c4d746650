"""Rows as single records of Avro, without their schema."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

from firesteel.common.errors import TypeMismatchError, UnsupportedError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation
from firesteel.common.types import Row
from firesteel.connectors.tables.formats.avro.schema import parse_schema, require_fastavro
from firesteel.datastream.formats.avro_values import from_avro, to_avro, type_of_avro
from firesteel.datastream.formats.row_types import require_row_type


class _AvroRows:
    """What both directions have in common: the schema, and what is made of it in each process."""

    def __init__(self, record_class: str | None, avro_schema_string: str | None) -> None:
        who = type(self).__name__
        require_fastavro(who)
        if record_class is not None:
            raise UnsupportedError(
                "is not supported: it is a class of Java",
                who=f"{who}(record_class=...)",
                hint="give its schema as avro_schema_string",
            )
        if avro_schema_string is None:
            raise TypeError("record_class or avro_schema_string should be specified.")
        self._text = avro_schema_string
        self._row_type = require_row_type(type_of_avro(parse_schema(avro_schema_string, who)), who)
        self._convert: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_convert": None}


class AvroRowDeserializationSchema(_AvroRows, DeserializationSchema):
    """Reads a Row from a message that is a record of the schema; an enum is a text, times have no zone.

    Raises ProgramError for text that is no schema of a record, UnsupportedError for a class of Java. A message that is
    no such record raises TypeMismatchError.

    >>> schema = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}'
    >>> AvroRowDeserializationSchema(avro_schema_string=schema).deserialize(bytes([84]))
    Row(n=42)
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        super().__init__(record_class, avro_schema_string)

    def get_produced_type(self) -> TypeInformation:
        """Return the row type."""
        return self._row_type

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row of a message."""
        if message is None:
            return None
        if self._convert is None:
            self._convert = self._reader()
        try:
            row: Row = self._convert(message)
        except (EOFError, ValueError, IndexError, LookupError, OverflowError) as error:
            raise TypeMismatchError(
                "requires a record of its schema",
                who="Avro",
                got=f"{message!r} ({str(error) or 'it ends too early'})",
            ) from error
        return row

    def _reader(self) -> Callable[[bytes], Row]:
        import fastavro

        schema = fastavro.parse_schema(json.loads(self._text))
        read, convert = fastavro.schemaless_reader, from_avro(parse_schema(self._text, "Avro"))
        return lambda message: convert(read(io.BytesIO(message), schema, None))


class AvroRowSerializationSchema(_AvroRows, SerializationSchema):
    """Writes a Row as a record of the schema.

    Raises ProgramError for text that is no schema of a record, UnsupportedError for a class of Java.

    >>> schema = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}'
    >>> AvroRowSerializationSchema(avro_schema_string=schema).serialize(Row(42))
    b'T'
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        super().__init__(record_class, avro_schema_string)

    def serialize(self, value: Any) -> bytes:
        """Return the record of a row. Raises TypeMismatchError for a value that is not of the schema."""
        if self._convert is None:
            self._convert = self._writer(self._row_type)
        try:
            data: bytes = self._convert(value)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise TypeMismatchError(
                "requires rows that fit its schema", who="Avro", got=f"{value!r} ({error})"
            ) from error
        return data

    def _writer(self, row_type: RowTypeInfo) -> Callable[[Any], bytes]:
        import fastavro

        schema = fastavro.parse_schema(json.loads(self._text))
        write, coerce = fastavro.schemaless_writer, row_type.compile_coercer()
        convert = to_avro(parse_schema(self._text, "Avro"))

        def record(value: Any) -> bytes:
            file = io.BytesIO()
            write(file, schema, convert(coerce(value)), strict=True)
            return file.getvalue()

        return record
