"""Messages in Confluent's wire format, whose schemas are in a registry. PyFlink has none of these classes."""

from firesteel.connectors.schema_registry.settings import RegistrySettings
from firesteel.datastream.formats.confluent_avro import (
    ConfluentAvroDeserializationSchema,
    ConfluentAvroSerializationSchema,
)
from firesteel.datastream.formats.confluent_json import (
    ConfluentJsonDeserializationSchema,
    ConfluentJsonSerializationSchema,
)
from firesteel.datastream.formats.confluent_protobuf import (
    ConfluentProtobufDeserializationSchema,
    ConfluentProtobufSerializationSchema,
)

__all__ = [
    "ConfluentAvroDeserializationSchema",
    "ConfluentAvroSerializationSchema",
    "ConfluentJsonDeserializationSchema",
    "ConfluentJsonSerializationSchema",
    "ConfluentProtobufDeserializationSchema",
    "ConfluentProtobufSerializationSchema",
    "RegistrySettings",
]
