"""JSON behind the id of a JSON Schema, checked with that schema."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConnectorError
from firesteel.connectors.schema_registry.json_schemas import known_json_schema, registered_json_schema
from firesteel.connectors.schema_registry.settings import RegistrySettings
from firesteel.connectors.schema_registry.wire_format import HEADER
from firesteel.connectors.tables.messages.confluent import schema_ids
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    Places,
    earliest,
    moved,
)
from firesteel.connectors.tables.messages.message_lines import present
from firesteel.functions.columns.endpoints import Kinds


class ValidatingDecoder(MessageDecoder):
    """Checks each message with the schema that it was written with, before another decoder reads it.

    A message that is not of its schema is bad, or left out if the format is `lenient`, which `option` says. One whose
    schema is unknown is bad in any case.
    """

    def __init__(
        self, inner: MessageDecoder, settings: RegistrySettings, *, lenient: bool, option: str
    ) -> None:
        self._inner = inner
        self._settings = settings
        self._lenient = lenient
        self._option = option

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        """Return the rows of messages."""
        given, places = present(messages)
        return moved(self._decode(given), places)

    def _decode(self, given: pa.Array) -> Decoded | BadMessage:
        ids = schema_ids(given)
        if isinstance(ids, BadMessage):
            return earliest(ids, given, self._decode)
        found = self._misfits(given, ids)
        if isinstance(found, BadMessage):
            return earliest(found, given, self._decode)
        if not found:
            return self._inner.decode(given)
        if self._lenient:
            kept = np.delete(np.arange(len(given)), [*found])
            return moved(self._inner.decode(given.take(pa.array(kept))), kept)
        first = min(found)
        bad = BadMessage(first, given[first].as_py(), found[first], self._option)
        return earliest(bad, given, self._inner.decode)

    def _misfits(self, given: pa.Array, ids: Places) -> dict[int, str] | BadMessage:
        """Return why messages are not of their schemas, by their places; or the first whose schema is unknown."""
        texts = pc.binary_slice(given, HEADER, 1 << 31).to_pylist()
        found: dict[int, str] = {}
        unknown: list[BadMessage] = []
        for number in np.unique(ids).tolist():
            chosen = np.flatnonzero(ids == number).tolist()
            schema = registered_json_schema(self._settings, number)
            if isinstance(schema, str):
                unknown.append(BadMessage(chosen[0], given[chosen[0]].as_py(), schema))
                continue
            for place in chosen:
                why = schema.misfit(texts[place])
                if why is not None:
                    found[place] = why
        return min(unknown, key=lambda bad: bad.index) if unknown else found


class ValidatingEncoder(MessageEncoder):
    """Checks what another encoder writes with a schema. Raises ConnectorError for a row that is not of it."""

    def __init__(self, inner: MessageEncoder, schema: str, who: str) -> None:
        self._inner = inner
        self._schema = schema
        self._who = who
        known_json_schema(schema)

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        """Return the message of each row."""
        found = self._inner.encode(rows, kinds)
        schema = known_json_schema(self._schema)
        for text in found.to_pylist():
            why = schema.misfit(text)
            if why is not None:
                shown = text.decode("utf-8", "replace")
                raise ConnectorError(
                    "requires rows that are of its JSON Schema", who=self._who, got=f"{shown} ({why})"
                )
        return found
