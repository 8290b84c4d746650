"""The format 'json-confluent': JSON with the ids of its JSON Schemas, which Flink does not have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from firesteel.common.logical_types import RowType
from firesteel.connectors.tables.file_formats import json_rules, rules_to_write_json
from firesteel.connectors.tables.messages.confluent import registry, require_subject
from firesteel.connectors.tables.messages.confluent_header import HeadedDecoder, HeadedEncoder
from firesteel.connectors.tables.messages.json_messages import JsonDecoder, JsonEncoder
from firesteel.connectors.tables.messages.json_schema import json_schema_of
from firesteel.connectors.tables.messages.message_format import MessageDecoder, MessageEncoder, MessageFormat
from firesteel.connectors.tables.options import Options

_NAME: Final = "json-confluent"
_JSON: Final = "JSON"


class ConfluentJsonFormat(MessageFormat):
    """Objects of JSON behind the id of a JSON Schema.

    They are read as those of the format 'json': the schema is not looked at. What is written has the schema that the
    table has, or the one that an option gives.
    """

    name = _NAME

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        registry(options, _NAME, None)
        option = options.full(f"{_NAME}.ignore-parse-errors")
        return HeadedDecoder(JsonDecoder(row, json_rules(options, _NAME), option))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        found = registry(options, _NAME, subject)
        require_subject(found, options, _NAME)
        if found.schema is not None:
            try:
                json.loads(found.schema)
            except ValueError as error:
                raise options.wrong(f"{_NAME}.schema", "a JSON Schema") from error
        schema = found.schema or json_schema_of(row)
        inner = JsonEncoder(row, rules_to_write_json(options, _NAME))
        return HeadedEncoder(inner, partial(found.header, schema, _JSON))
