"""The formats of messages by name."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.tables.messages.avro_messages import AvroMessageFormat
from firesteel.connectors.tables.messages.change_messages import CHANGE_MESSAGE_FORMATS
from firesteel.connectors.tables.messages.confluent_avro import ConfluentAvroFormat
from firesteel.connectors.tables.messages.confluent_json import ConfluentJsonFormat
from firesteel.connectors.tables.messages.confluent_protobuf import ConfluentProtobufFormat
from firesteel.connectors.tables.messages.csv_messages import CsvMessageFormat
from firesteel.connectors.tables.messages.debezium_avro import DebeziumAvroFormat
from firesteel.connectors.tables.messages.json_messages import JsonMessageFormat
from firesteel.connectors.tables.messages.message_format import MessageFormat
from firesteel.connectors.tables.messages.protobuf_messages import ProtobufMessageFormat
from firesteel.connectors.tables.messages.raw_messages import RawFormat
from firesteel.connectors.tables.options import Option, Options, suggestion

_FORMATS: Final[tuple[MessageFormat, ...]] = (
    AvroMessageFormat(),
    ConfluentAvroFormat(),
    CsvMessageFormat(),
    ConfluentJsonFormat(),
    ConfluentProtobufFormat(),
    DebeziumAvroFormat(),
    JsonMessageFormat(),
    ProtobufMessageFormat(),
    RawFormat(),
    *CHANGE_MESSAGE_FORMATS,
)

MESSAGE_FORMATS: Final = {known.name: known for known in _FORMATS}
"""The formats by name."""


def message_format(options: Options, option: Option[str], who: str) -> tuple[MessageFormat, Options] | None:
    """Return the format that an option names, and the format's options; None without that option.

    `option` is 'format', 'key.format' or 'value.format'; the options of the format have the same beginning as in Flink:
    those of 'key.format' = 'json' are 'key.json.*'. Raises ConfigurationError, with `who`, for an unknown format.

    >>> from firesteel.connectors.tables.options import text
    >>> options = Options({"key.format": "raw", "key.raw.charset": "latin-1"}, "table 't'", "kafka")
    >>> form, below = message_format(options, text("key.format"), "table 't'")
    >>> form.name, below.get(text("raw.charset"))
    ('raw', 'latin-1')
    """
    name = options.get(option)
    if name is None:
        return None
    if name not in MESSAGE_FORMATS:
        raise ConfigurationError(
            "requires a format of messages that exists",
            who=who,
            got=repr(name),
            hint=suggestion(name, MESSAGE_FORMATS),
        )
    return MESSAGE_FORMATS[name], options.below(option.key.removesuffix("format"))
