"""Messages of Canal (Flink: CanalJsonDeserializationSchema)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import (
    STRING,
    ArrayType,
    Field,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowType,
)
from firesteel.connectors.tables.changes.envelope import (
    CODES,
    KINDS,
    NEW,
    UNKNOWN,
    Codes,
    Entries,
    Envelope,
    Mask,
    Metadata,
    Places,
    Wrong,
    codes_of,
    valid,
)
from firesteel.connectors.tables.changes.messages import Messages
from firesteel.connectors.tables.changes.old_values import OldValues

_WORDS: Final = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}
_DEFINITION: Final = "CREATE"
"""What the message of a new table says; it has no rows."""

_TIME: Final = LocalZonedTimestampType(3)


class _Lists(NamedTuple):
    """The elements of lists, and where those of each list begin and how many there are."""

    elements: pa.Array
    starts: Places
    sizes: Places


class CanalEnvelope(Envelope):
    """A message has rows as its `data`, and if they are updated, what has changed in each as `old`.

    `only` are patterns for the fields database and table; other messages are left out.
    """

    name: ClassVar[str] = "canal-json"
    quoted: ClassVar[bool] = True
    known: ClassVar[dict[str, Metadata]] = {
        "database": Metadata(STRING, ("database",)),
        "table": Metadata(STRING, ("table",)),
        "sql-type": Metadata(MapType(STRING, IntType()), ("sqlType",)),
        "pk-names": Metadata(ArrayType(STRING), ("pkNames",)),
        "ingestion-timestamp": Metadata(_TIME, ("ts",), 1),
        "event-timestamp": Metadata(_TIME, ("es",), 1),
    }

    def __init__(
        self, row: RowType, metadata: Sequence[str] = (), *, only: Mapping[str, re.Pattern[str]] | None = None
    ) -> None:
        super().__init__(row, metadata)
        self._old = OldValues(row.field_names)
        self._only = only or {}

    @property
    def message(self) -> RowType:
        """The type of what is read of a message."""
        rows = ArrayType(self.row)
        fields = [Field("data", rows), Field("old", rows), Field("type", STRING)]
        return self.with_metadata([*fields, *(Field(name, STRING) for name in self._only)])

    def skips(self, text: str) -> bool:
        """Return whether a message is left out, whatever its rows are like."""
        if not self._only:
            return False
        found = json.loads(text, strict=False)
        return isinstance(found, dict) and any(
            name in found and not pattern.fullmatch(str(found[name])) for name, pattern in self._only.items()
        )

    def entries(self, messages: Messages) -> Entries:
        """Return the changes of messages, in their order.

        The rows of a message before the first one that is damaged count, as in Flink.
        """
        data, old, said = messages.columns.columns[:3]
        codes = codes_of(said, _WORDS)
        kept, unnamed = self._chosen(messages.columns)
        silent = ~kept | np.asarray(
            pc.equal(said, _DEFINITION).fill_null(False).to_numpy(zero_copy_only=False)
        )
        right = ~unnamed & (silent | ((codes != UNKNOWN) & valid(data)))
        rows, olds = _lists(data, right & ~silent), _lists(old, right)
        places = np.repeat(np.arange(len(codes)), rows.sizes)
        numbers = np.arange(len(places)) - np.repeat(np.cumsum(rows.sizes) - rows.sizes, rows.sizes)
        updates = codes[places] == CODES["update"]
        at = rows.starts[places] + numbers
        before = olds.starts[places] + numbers
        fits = valid(rows.elements)[at]
        there = updates & (numbers < olds.sizes[places])
        there[there] = valid(olds.elements)[before[there]]
        fits &= there | ~updates
        right[places[~fits]] = False
        whole = _until_first(~fits, places)
        entries = self._completed(
            messages,
            places[whole],
            codes,
            rows.elements.take(pa.array(at[whole])),
            olds.elements.take(pa.array(before[whole & updates])),
        )
        wrong = None if right.all() else int(np.argmin(right))
        if wrong is None:
            return entries
        why = _why(said[wrong].as_py(), int(codes[wrong]), bool(unnamed[wrong]), data[wrong].is_valid)
        return entries._replace(wrong=Wrong(wrong, why))

    def _chosen(self, columns: pa.RecordBatch) -> tuple[Mask, Mask]:
        """Return which messages are of the tables that are wanted, and which do not say what they are of."""
        kept = np.ones(columns.num_rows, np.bool_)
        unnamed = np.zeros(columns.num_rows, np.bool_)
        for name, pattern in self._only.items():
            found = columns.column(name).dictionary_encode()
            fits = [pattern.fullmatch(value) is not None for value in found.dictionary.to_pylist()]
            codes = found.indices.fill_null(len(fits)).to_numpy(zero_copy_only=False)
            unnamed |= kept & (codes == len(fits))
            kept &= np.array([*fits, True])[codes]
        return kept, unnamed

    def _completed(
        self, messages: Messages, places: Places, codes: Codes, rows: pa.Array, olds: pa.Array
    ) -> Entries:
        """Return the changes of rows of messages; `olds` are the old values of those that are updated."""
        changed = np.flatnonzero(codes[places] == CODES["update"])
        columns = rows.flatten()
        if len(changed):
            objects = sum(map(len, (codes, *(column.flatten() for column in messages.columns.columns[:2]))))
            befores = self._old.completed(
                messages, places[changed], olds, rows.take(pa.array(changed)), objects
            )
            columns = [pa.concat_arrays(pair) for pair in zip(columns, befores, strict=True)]
        counts = np.ones(len(places), np.int64)
        counts[changed] = 2
        source = np.repeat(np.arange(len(places)), counts)
        kinds = KINDS[codes[places]][source]
        last = np.cumsum(counts) - 1
        kinds[last[changed]] = NEW
        source[last[changed] - 1] = len(places) + np.arange(len(changed))
        taken = [column.take(pa.array(source)) for column in columns]
        return Entries(np.repeat(places, counts), taken, kinds, None)


def _lists(column: pa.Array, read: Mask) -> _Lists:
    """Return the elements of a column of lists; those of messages that are not read count as none."""
    sizes = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return _Lists(column.flatten(), np.cumsum(sizes) - sizes, np.where(read, sizes, 0))


def _until_first(misfits: Mask, places: Places) -> Mask:
    """Return the rows of each message that come before its first misfit.

    >>> _until_first(np.array([False, True, False, False]), np.array([0, 0, 0, 1])).tolist()
    [True, False, False, True]
    """
    if not misfits.any():
        return ~misfits
    seen = np.cumsum(misfits)
    before = np.concatenate(([0], seen))[np.searchsorted(places, places)]
    return np.asarray(seen == before)


def _why(said: str | None, code: int, unnamed: bool, has_data: bool) -> str:
    if unnamed:
        return "it does not say of which database and table it is"
    if code == UNKNOWN:
        return f"the field 'type' is {said!r}, and none of {', '.join([*_WORDS, _DEFINITION])}"
    if not has_data:
        return "the field 'data' is null"
    return "the field 'data' has a row that is null, or 'old' has none for it"
