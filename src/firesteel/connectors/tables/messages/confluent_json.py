"""The format 'json-confluent': JSON with the ids of its JSON Schemas, which Flink does not have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import RowType
from firesteel.connectors.schema_registry.json_schemas import JSON
from firesteel.connectors.tables.file_formats import JsonOptions, json_rules, rules_to_write_json
from firesteel.connectors.tables.messages.confluent import RegistryOptions, registry, require_subject
from firesteel.connectors.tables.messages.confluent_header import HeadedDecoder, HeadedEncoder
from firesteel.connectors.tables.messages.json_messages import JsonDecoder, JsonEncoder
from firesteel.connectors.tables.messages.json_schema import json_schema_of
from firesteel.connectors.tables.messages.message_format import MessageDecoder, MessageEncoder, MessageFormat
from firesteel.connectors.tables.messages.validated_json import ValidatingDecoder, ValidatingEncoder
from firesteel.connectors.tables.options import Options, truth
from firesteel.formats.json_schema import require_json_schema

_NAME: Final = "json-confluent"


_VALIDATE: Final = truth(
    f"{_NAME}.validate",
    "Whether messages are checked with the JSON Schema that they were written with. Needs `firesteel[json-schema]`.",
).by_default("true")


class ConfluentJsonFormat(MessageFormat):
    """Objects of JSON behind the id of a JSON Schema.

    A message is checked with the schema that it was written with, and read as one of the format 'json'. What is written
    has the schema that the table has, or the one that an option gives, and is checked with it. An option turns checking
    off; then the registry is asked only to write.
    """

    name = _NAME
    options = (*RegistryOptions(_NAME).all, *JsonOptions(_NAME).all, _VALIDATE)

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        found = registry(options, _NAME, None)
        option = options.full(f"{_NAME}.ignore-parse-errors")
        rules = json_rules(options, _NAME)
        inner = HeadedDecoder(JsonDecoder(row, rules, option))
        if not _validates(options):
            return inner
        return ValidatingDecoder(inner, found.settings, lenient=rules.lenient, option=option)

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        found = registry(options, _NAME, subject)
        require_subject(found, options, _NAME)
        schema = found.schema or json_schema_of(row)
        inner: MessageEncoder = JsonEncoder(row, rules_to_write_json(options, _NAME))
        if _validates(options):
            try:
                inner = ValidatingEncoder(inner, schema, f"the format {_NAME!r}")
            except ProgramError as error:
                raise options.wrong(f"{_NAME}.schema", "a JSON Schema") from error
        return HeadedEncoder(inner, partial(found.header, schema, JSON))


def _validates(options: Options) -> bool:
    validates = options.get(_VALIDATE)
    if validates:
        require_json_schema(f"option '{options.full(_VALIDATE.key)}' = 'true' (the default)")
    return validates
