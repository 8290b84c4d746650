"""Messages of Maxwell (Flink: MaxwellJsonDeserializationSchema)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import STRING, ArrayType, Field, LocalZonedTimestampType, RowType
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
    valid,
)
from firesteel.connectors.tables.changes.messages import Messages
from firesteel.connectors.tables.changes.old_values import OldValues

_WORDS: Final = {"insert": "insert", "update": "update", "delete": "delete"}


class MaxwellEnvelope(Envelope):
    """A message has a row as its `data`, and if it is updated, what has changed in it as `old`."""

    name: ClassVar[str] = "maxwell-json"
    known: ClassVar[dict[str, Metadata]] = {
        "database": Metadata(STRING, ("database",)),
        "table": Metadata(STRING, ("table",)),
        "primary-key-columns": Metadata(ArrayType(STRING), ("primary_key_columns",)),
        "ingestion-timestamp": Metadata(LocalZonedTimestampType(3), ("ts",), 1000),
    }

    def __init__(self, row: RowType, metadata: Sequence[str] = ()) -> None:
        super().__init__(row, metadata)
        self._old = OldValues(row.field_names)

    @property
    def message(self) -> RowType:
        """The type of what is read of a message."""
        return self.with_metadata((Field("data", self.row), Field("old", self.row), Field("type", STRING)))

    def entries(self, messages: Messages) -> Entries:
        """Return the changes of messages, in their order."""
        data, old, said = messages.columns.columns[:3]
        codes = codes_of(said, _WORDS)
        updates = codes == CODES["update"]
        has_data = valid(data)
        right = (codes != UNKNOWN) & has_data & (valid(old) | ~updates)
        places = np.repeat(np.arange(len(codes)), np.where(right, 1 + updates, 0))
        first = np.ones(len(places), np.bool_)
        first[1:] = places[1:] != places[:-1]
        kinds = np.where(first, KINDS[codes[places]], NEW).astype(np.int8)
        columns = data.flatten()
        changed = np.flatnonzero(right & updates)
        if len(changed):
            taken = pa.array(changed)
            objects = 2 * len(codes) + len(changed)
            befores = self._old.completed(messages, changed, old.take(taken), data.take(taken), objects)
            columns = [pa.concat_arrays(pair) for pair in zip(columns, befores, strict=True)]
        rows = places.copy()
        rows[first & updates[places]] = len(codes) + np.arange(len(changed))
        wrong = None if right.all() else int(np.argmin(right))
        return Entries(
            places,
            [column.take(pa.array(rows)) for column in columns],
            kinds,
            None
            if wrong is None
            else Wrong(wrong, _why(said[wrong].as_py(), int(codes[wrong]), has_data[wrong])),
        )


def _why(said: str | None, code: int, has_data: bool) -> str:
    if code == UNKNOWN:
        return f"the field 'type' is {said!r}, and none of {', '.join(_WORDS)}"
    return f"the field '{'old' if has_data else 'data'}' is null"
