"""Records of Avro behind the ids of their schemas (Java: ConfluentRegistryAvroDeserializationSchema.forGeneric)."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any, Final

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.common.typeinfo import TypeInformation
from firesteel.connectors.files.avro_files import named_as
from firesteel.connectors.schema_registry.client import UnknownSchemaError, registered_id, registered_schema
from firesteel.connectors.schema_registry.settings import RegistrySettings, registry_settings
from firesteel.connectors.schema_registry.wire_format import header_of, split_header
from firesteel.connectors.tables.formats.avro.schema import checked_schema, require_fastavro
from firesteel.datastream.formats.avro import AvroSchema, GenericRecordAvroTypeInfo

_WHO: Final = "Avro"
_AVRO: Final = "AVRO"
_KEPT: Final = 256


class ConfluentAvroDeserializationSchema(DeserializationSchema):
    """Reads records of any schemas of a registry as dictionaries, by Avro's rules as those of `avro_schema`.

    `registry` is the address, or `RegistrySettings`. A message that cannot be read so, or has no known schema, raises
    TypeMismatchError; a registry that is away ConnectorError, after its patience. A message without a value has none.
    Raises ProgramError for what is no schema.
    """

    def __init__(self, registry: str | RegistrySettings, avro_schema: str) -> None:
        require_fastavro(type(self).__name__)
        self._settings = registry_settings(registry)
        self._schema = avro_schema
        _known(avro_schema)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of records of the schema."""
        return GenericRecordAvroTypeInfo(AvroSchema.parse_string(self._schema))

    def deserialize(self, message: bytes | None) -> Any:
        """Return the record of a message."""
        from fastavro import schemaless_reader
        from fastavro.read import SchemaResolutionError

        if message is None:
            return None
        number, data = split_header(message)
        written = _written(self._settings, number)
        try:
            return schemaless_reader(io.BytesIO(data), written, named_as(_known(self._schema), written))
        except (SchemaResolutionError, EOFError, ValueError, IndexError, LookupError) as error:
            raise TypeMismatchError(
                "requires a record that can be read by its schema",
                who=_WHO,
                got=f"{message[:200]!r} ({str(error) or type(error).__name__})",
            ) from error


class ConfluentAvroSerializationSchema(SerializationSchema):
    """Writes dictionaries as records of `avro_schema`, behind its id.

    The schema is registered under `subject` with the first message, unless `register` is False: then it must be there.
    For Kafka the subject is by convention the topic with `-value` or `-key`. A value that is not of the schema raises
    TypeMismatchError. Raises ProgramError for what is no schema. None has no message.
    """

    def __init__(
        self, registry: str | RegistrySettings, subject: str, avro_schema: str, *, register: bool = True
    ) -> None:
        require_fastavro(type(self).__name__)
        self._settings = registry_settings(registry)
        self._subject = subject
        self._schema = avro_schema
        self._register = register
        _known(avro_schema)

    def serialize(self, value: Any) -> bytes | None:  # type: ignore[override] # None is a tombstone
        """Return the message of a value."""
        from fastavro import schemaless_writer

        if value is None:
            return None
        data = io.BytesIO()
        try:
            schemaless_writer(data, _known(self._schema), value)
        except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
            raise TypeMismatchError(
                "requires a value that is of its schema", who=_WHO, got=f"{value!r} ({error})"
            ) from error
        number = registered_id(self._settings, self._subject, self._schema, register=self._register)
        return header_of(number) + data.getvalue()


@lru_cache(_KEPT)
def _known(schema: str, references: tuple[str, ...] = ()) -> Any:
    return checked_schema(schema, _WHO, references)


def _written(settings: RegistrySettings, number: int) -> Any:
    """Return the schema with an id. Raises TypeMismatchError if there is none of Avro."""
    try:
        found = registered_schema(settings, number)
        if found.kind == _AVRO:
            return _known(found.text, tuple(reference.text for reference in found.references))
        why = f"one of {found.kind}"
    except (UnknownSchemaError, ProgramError) as error:
        why = str(error)
    raise TypeMismatchError(
        f"requires that the schema {number} of a message is one of Avro", who=_WHO, got=why
    )
