"""Messages of Debezium (Flink: DebeziumJsonDeserializationSchema)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from firesteel.common.logical_types import STRING, Field, LocalZonedTimestampType, MapType, RowType
from firesteel.connectors.tables.changes.envelope import (
    CODES,
    KINDS,
    NEW,
    UNKNOWN,
    Entries,
    Envelope,
    Metadata,
    Wrong,
    codes_of,
    columns_of,
    valid,
)
from firesteel.connectors.tables.changes.messages import Messages

_WORDS: Final = {"c": "insert", "r": "insert", "u": "update", "d": "delete"}
_TIME: Final = LocalZonedTimestampType(3)
_SCHEMA: Final = "schema"
_PAYLOAD: Final = "payload"


class DebeziumEnvelope(Envelope):
    """A message has the row `before` and `after` a change, and `op` says which change it is.

    With `schema`, all of this is in its field payload.
    """

    name: ClassVar[str] = "debezium-json"
    known: ClassVar[dict[str, Metadata]] = {
        _SCHEMA: Metadata(STRING, (_SCHEMA,)),
        "ingestion-timestamp": Metadata(_TIME, ("ts_ms",), 1),
        "source.timestamp": Metadata(_TIME, ("source", "ts_ms"), 1),
        "source.database": Metadata(STRING, ("source", "db")),
        "source.schema": Metadata(STRING, ("source", "schema")),
        "source.table": Metadata(STRING, ("source", "table")),
        "source.properties": Metadata(MapType(STRING, STRING), ("source",)),
    }

    def __init__(self, row: RowType, metadata: Sequence[str] = (), *, schema: bool = False) -> None:
        self._path = (_PAYLOAD,) if schema else ()
        super().__init__(row, metadata)

    def _located(self, name: str) -> Metadata:
        found = self.known[name]
        return found if name == _SCHEMA else replace(found, path=(*self._path, *found.path))

    @property
    def message(self) -> RowType:
        """The type of what is read of a message."""
        fields = (Field("before", self.row), Field("after", self.row), Field("op", STRING))
        return self.with_metadata((Field(_PAYLOAD, RowType(fields)),) if self._path else fields)

    def entries(self, messages: Messages) -> Entries:
        """Return the changes of messages, in their order."""
        payload = messages.columns
        columns = payload.column(_PAYLOAD).flatten() if self._path else payload.columns
        before, after, op = columns[:3]
        codes = codes_of(op, _WORDS)
        has_old, has_new = valid(before), valid(after)
        updates = codes == CODES["update"]
        deletes = codes == CODES["delete"]
        right = (codes != UNKNOWN) & (has_old | ~(updates | deletes)) & (has_new | deletes)
        counts = np.where(right, 1 + updates, 0)
        places = np.repeat(np.arange(len(codes)), counts)
        second = np.zeros(len(places), np.bool_)
        second[1:] = places[1:] == places[:-1]
        kinds = np.where(second, NEW, KINDS[codes[places]]).astype(np.int8)
        fresh = (kinds == KINDS[CODES["insert"]]) | second
        rows = columns_of(after, before, np.where(fresh, places, places + len(codes)))
        wrong = None if right.all() else int(np.argmin(right))
        return Entries(
            places,
            rows,
            kinds,
            None
            if wrong is None
            else Wrong(wrong, _why(op[wrong].as_py(), has_old[wrong], int(codes[wrong]))),
        )


def _why(op: str | None, has_old: bool, code: int) -> str:
    if code == UNKNOWN:
        return f"the field 'op' is {op!r}, and none of {', '.join(_WORDS)}"
    if code != CODES["insert"] and not has_old:
        return (
            "the field 'before' is null, though a row is changed; if this is a table of PostgreSQL, "
            "it needs REPLICA IDENTITY FULL"
        )
    return "the field 'after' is null, though there is a new row"
