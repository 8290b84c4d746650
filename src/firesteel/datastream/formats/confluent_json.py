"""JSON behind the ids of JSON Schemas, in Confluent's wire format."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from firesteel.common.errors import TypeMismatchError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation, Types
from firesteel.connectors.schema_registry.client import registered_id
from firesteel.connectors.schema_registry.json_schemas import JSON, known_json_schema, registered_json_schema
from firesteel.connectors.schema_registry.settings import RegistrySettings, registry_settings
from firesteel.connectors.schema_registry.wire_format import header_of, split_header
from firesteel.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from firesteel.formats.json import JSON as ENCODER
from firesteel.formats.json_schema import require_json_schema

_SHOWN: Final = 200


class ConfluentJsonDeserializationSchema(DeserializationSchema):
    """Reads messages of any JSON Schemas of a registry; each is checked with the schema it was written with.

    `registry` is the address, or `RegistrySettings`. Values are those of JSON (dictionaries, lists, texts, numbers), or
    Rows of `row_type`: fields that it does not name are dropped, and missing ones are None. A message that is not of
    its schema, or has none, raises TypeMismatchError; a registry that is away ConnectorError, after its patience. With
    `validate=False` the registry is not asked. A message without a value has none.
    """

    def __init__(
        self, registry: str | RegistrySettings, row_type: RowTypeInfo | None = None, *, validate: bool = True
    ) -> None:
        self._settings = registry_settings(registry)
        self._rows = None if row_type is None else _rows_to_read(row_type)
        self._validate = validate
        if validate:
            require_json_schema("ConfluentJsonDeserializationSchema")

    def get_produced_type(self) -> TypeInformation:
        """Return the row type, or the type of any values."""
        return Types.PICKLED_BYTE_ARRAY() if self._rows is None else self._rows.get_produced_type()

    def deserialize(self, message: bytes | None) -> Any:
        """Return the value of a message."""
        if message is None:
            return None
        number, text = split_header(message)
        if self._validate:
            schema = registered_json_schema(self._settings, number)
            why = schema if isinstance(schema, str) else schema.misfit(text)
            if why is not None:
                raise _misfit(text, why)
        if self._rows is not None:
            return self._rows.deserialize(text)
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise _misfit(text, str(error)) from error


class ConfluentJsonSerializationSchema(SerializationSchema):
    """Writes values of JSON, or Rows of `row_type`, behind the id of `json_schema`, which they must be of.

    The schema is registered under `subject` with the first message, unless `register` is False: then it must be there.
    For Kafka the subject is by convention the topic with `-value` or `-key`. A value that is not of the schema raises
    TypeMismatchError, unless `validate` is False. Raises ProgramError for what is no schema. None has no message.
    """

    def __init__(
        self,
        registry: str | RegistrySettings,
        subject: str,
        json_schema: str,
        row_type: RowTypeInfo | None = None,
        *,
        register: bool = True,
        validate: bool = True,
    ) -> None:
        self._settings = registry_settings(registry)
        self._subject = subject
        self._schema = json_schema
        self._rows = None if row_type is None else _rows_to_write(row_type)
        self._register = register
        self._validate = validate
        if validate:
            require_json_schema("ConfluentJsonSerializationSchema")
            known_json_schema(json_schema)

    def serialize(self, value: Any) -> bytes | None:  # type: ignore[override] # None is a tombstone
        """Return the message of a value."""
        if value is None:
            return None
        text = ENCODER.encode(value) if self._rows is None else self._rows.serialize(value)
        if self._validate:
            why = known_json_schema(self._schema).misfit(text)
            if why is not None:
                raise _misfit(text, why)
        number = registered_id(self._settings, self._subject, self._schema, JSON, register=self._register)
        return header_of(number) + text


def _rows_to_read(row_type: RowTypeInfo) -> JsonRowDeserializationSchema:
    return JsonRowDeserializationSchema.builder().type_info(row_type).build()


def _rows_to_write(row_type: RowTypeInfo) -> JsonRowSerializationSchema:
    return JsonRowSerializationSchema.builder().with_type_info(row_type).build()


def _misfit(text: bytes, why: str) -> TypeMismatchError:
    shown = repr(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")
    return TypeMismatchError(
        "requires a value that is of its schema", who="JSON Schema", got=f"{shown} ({why})"
    )
