"""Rows as JSON objects (PyFlink: pyflink.datastream.formats.json)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from firesteel.common.errors import TypeMismatchError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation
from firesteel.common.types import Row
from firesteel.datastream.formats.json_schema import type_of_json_schema
from firesteel.datastream.formats.row_types import require_row_type
from firesteel.formats.json import JSON, to_json
from firesteel.formats.json_decoding import NO_JSON, JsonDecoder, is_exact

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(DeserializationSchema):
    """Reads a Row from a message that is a JSON object.

    Fields that the type does not name are dropped, and missing fields are None. A message that does not fit raises
    TypeMismatchError; with `ignore_parse_errors()` a field that does not fit is None, and so is a message that is not
    an object.

    >>> from firesteel.common import Types
    >>> row_type = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    >>> schema = JsonRowDeserializationSchema.builder().type_info(row_type).build()
    >>> schema.deserialize(b'{"age": "42", "city": "Rome"}')
    Row(name=None, age=42)
    """

    def __init__(self, row_type: RowTypeInfo, fail_on_missing_field: bool, ignore_errors: bool) -> None:
        if fail_on_missing_field and ignore_errors:
            raise ValueError(
                "JSON format doesn't support failOnMissingField and ignoreParseErrors are both true."
            )
        self._row_type = row_type
        self._fail_on_missing_field = fail_on_missing_field
        self._ignore_errors = ignore_errors
        self._decoder: JsonDecoder | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_decoder": None}

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Start a schema."""
        return JsonRowDeserializationSchema.Builder()

    def get_produced_type(self) -> TypeInformation:
        """Return the row type."""
        return self._row_type

    @property
    def makes_exact_values(self) -> bool:
        """Return whether values need no conversion to the type."""
        ours = type(self).deserialize is JsonRowDeserializationSchema.deserialize
        return ours and is_exact(self._row_type.schema())

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row of a message."""
        if self._decoder is None:
            schema = self._row_type.schema()
            self._decoder = JsonDecoder(schema, self._fail_on_missing_field, self._ignore_errors)
        try:
            row: Row | None = self._decoder.decode(message)
        except (*NO_JSON, TypeMismatchError) as error:
            if self._ignore_errors:
                return None
            if isinstance(error, TypeMismatchError):
                raise
            raise TypeMismatchError(
                "requires a JSON object", who="JSON", got=f"{message!r} ({error})"
            ) from error
        return row

    class Builder:
        """Collects the settings of the schema; every method except `build` returns the builder."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            """Set the row type. Raises ProgramError for any other type."""
            self._type_info = require_row_type(type_info, "JsonRowDeserializationSchema")
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """Set the row type by a JSON schema. Raises ProgramError for one that is not understood."""
            if json_schema is None:
                raise TypeError("The json_schema must not be None.")
            return self.type_info(type_of_json_schema(json.loads(json_schema)))

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """Make a missing field an error."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """Replace fields that do not fit by None."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """Return the schema. Raises TypeError without a type, ValueError if missing fields must both fail and be
            ignored.
            """
            if self._type_info is None:
                raise TypeError("Typeinfo should be set.")
            return JsonRowDeserializationSchema(
                self._type_info, self._fail_on_missing_field, self._ignore_parse_errors
            )


class JsonRowSerializationSchema(SerializationSchema):
    """Writes a Row as a JSON object.

    >>> from firesteel.common import Types
    >>> row_type = Types.ROW_NAMED(["name", "ages"], [Types.STRING(), Types.LIST(Types.INT())])
    >>> JsonRowSerializationSchema.builder().with_type_info(row_type).build().serialize(Row("A", [1, 2]))
    b'{"name":"A","ages":[1,2]}'
    """

    def __init__(self, row_type: RowTypeInfo) -> None:
        self._row_type = row_type
        self._convert: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_convert": None}

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Start a schema."""
        return JsonRowSerializationSchema.Builder()

    def serialize(self, value: Any) -> bytes:
        """Return the JSON of a row. Raises TypeMismatchError for a value that is not of the row type."""
        if self._convert is None:
            coerce, convert = self._row_type.compile_coercer(), to_json(self._row_type.schema())
            self._convert = lambda row: convert(coerce(row))
        return JSON.encode(self._convert(value))

    class Builder:
        """Collects the settings of the schema; every method except `build` returns the builder."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            """Set the row type. Raises ProgramError for any other type."""
            self._type_info = require_row_type(type_info, "JsonRowSerializationSchema")
            return self

        def build(self) -> JsonRowSerializationSchema:
            """Return the schema. Raises TypeError without a type."""
            if self._type_info is None:
                raise TypeError("Typeinfo should be set.")
            return JsonRowSerializationSchema(self._type_info)
