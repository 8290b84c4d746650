"""Messages that say how rows change, and the rows that changes have, as columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import BigIntType, Field, LogicalType, MapType, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.types import RowKind
from firesteel.connectors.tables.changes.messages import Messages
from firesteel.functions.columns.endpoints import Kinds

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

Codes = npt.NDArray[np.int8]

CODES: Final = {"insert": 0, "update": 1, "delete": 2}
"""What a message does, as numbers."""

UNKNOWN: Final = -1

KINDS: Final = np.array([RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value], np.int8)
"""By what a message does, the kind of its change, the first one of an update."""

NEW: Final = np.int8(RowKind.UPDATE_AFTER.value)
"""The kind of the second change of an update."""


@dataclass(frozen=True)
class Metadata:
    """A property of messages that a table can have as a column of type `type`, in the field `path`.

    With `milliseconds` it is a whole number there, of units of so many milliseconds since 1970.
    """

    type: LogicalType
    path: tuple[str, ...]
    milliseconds: int = 0

    @property
    def read(self) -> LogicalType:
        """The type of what is in the message."""
        return BigIntType() if self.milliseconds else self.type


class Wrong(NamedTuple):
    """A message that says no change: its place, and why."""

    place: int
    why: str


class Changed(NamedTuple):
    """The changes of messages: rows with the metadata of their messages, kinds, and the first message without any.

    `messages` are the places of the messages of the rows.
    """

    rows: pa.RecordBatch
    kinds: Kinds
    wrong: Wrong | None
    messages: Places


class Entries(NamedTuple):
    """Changes by their messages: the place of the message of each, its row's columns, and its kind."""

    messages: Places
    columns: list[pa.Array]
    kinds: Kinds
    wrong: Wrong | None


class Envelope(ABC):
    """Knows what the messages of one program look like; `row` is the type of the table's rows.

    `metadata` are the names of the properties that become columns after those of the row.
    """

    name: ClassVar[str]
    """The value of the option 'format'."""

    known: ClassVar[Mapping[str, Metadata]]
    """The properties of messages by name."""

    quoted: ClassVar[bool] = False
    """Whether the program writes numbers and truth values in quotes."""

    def __init__(self, row: RowType, metadata: Sequence[str] = ()) -> None:
        fields = tuple(Field(field.name, field.type.copy(nullable=True)) for field in row.fields)
        self.row = RowType(fields)
        self._wanted = [self._located(name) for name in metadata]
        given = [(field.name, field.type) for field in row.fields]
        self.schema = pa.schema(
            [
                (name, to_arrow(kind))
                for name, kind in (*given, *((one, self.known[one].type) for one in metadata))
            ]
        )

    def _located(self, name: str) -> Metadata:
        """Return a property with its place in the messages."""
        return self.known[name]

    @property
    @abstractmethod
    def message(self) -> RowType:
        """The type of what is read of a message."""

    def skips(self, text: str) -> bool:
        """Return whether a message is left out, whatever its rows are like; raise ValueError if it is no JSON."""
        del text
        return False

    @abstractmethod
    def entries(self, messages: Messages) -> Entries:
        """Return the changes of messages, in their order."""

    def changes(self, messages: Messages) -> Changed:
        """Return the changes of messages, with metadata; a message that says none has none."""
        entries = self.entries(messages)
        columns = [*entries.columns, *(self._property(one, messages, entries) for one in self._wanted)]
        rows = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return Changed(rows, entries.kinds, entries.wrong, entries.messages)

    def with_metadata(self, fields: Sequence[Field]) -> RowType:
        """Return the type of messages with these fields and those of the metadata that is wanted."""
        root: dict[str, LogicalType] = {field.name: field.type for field in fields}
        for wanted in sorted(self._wanted, key=lambda one: len(one.path)):
            _add(root, wanted.path, wanted.read)
        return RowType(tuple(Field(name, kind) for name, kind in root.items()), nullable=False)

    def _property(self, wanted: Metadata, messages: Messages, entries: Entries) -> pa.Array:
        first, *rest = wanted.path
        column = messages.columns.column(first)
        for name in rest:
            column = _child(column, name)
        kind = to_arrow(wanted.type)
        if wanted.milliseconds:
            whole = pc.multiply(column.cast(pa.int64()), wanted.milliseconds)
            column = whole.cast(pa.timestamp("ms", kind.tz)).cast(kind)
        taken = column.take(pa.array(entries.messages))
        return taken if taken.type == kind else taken.cast(kind)


def _child(column: pa.Array, name: str) -> pa.Array:
    if pa.types.is_map(column.type):
        return pc.map_lookup(column, name, "first")
    return column.flatten()[column.type.get_field_index(name)]


def _add(fields: dict[str, LogicalType], path: Sequence[str], kind: LogicalType) -> None:
    """Add a field to those of a row; what is in a map is there already."""
    name, *rest = path
    known = fields.get(name)
    if not rest:
        fields[name] = kind
    elif not isinstance(known, MapType):
        inner = {field.name: field.type for field in known.fields} if isinstance(known, RowType) else {}
        _add(inner, rest, kind)
        fields[name] = RowType(tuple(Field(key, value) for key, value in inner.items()))


def codes_of(column: pa.Array, words: Mapping[str, str]) -> Codes:
    """Return what messages do, by `words` from what they say to a key of `CODES`; -1 where it is none of them.

    >>> codes_of(pa.array(["c", None, "d"]), {"c": "insert", "d": "delete"}).tolist()
    [0, -1, 2]
    """
    found = pc.index_in(column, pa.array(list(words), pa.string()))
    codes = np.array([*(CODES[word] for word in words.values()), UNKNOWN], np.int8)
    return np.asarray(codes[found.fill_null(len(words)).to_numpy(zero_copy_only=False)])


def columns_of(first: pa.Array, second: pa.Array, places: Places) -> list[pa.Array]:
    """Return the columns of rows of two struct arrays: a place beyond the first array is one in the second."""
    if not len(places) or places.max() < len(first):
        return [column.take(pa.array(places)) for column in first.flatten()]
    pairs = zip(first.flatten(), second.flatten(), strict=True)
    return [pa.concat_arrays(pair).take(pa.array(places)) for pair in pairs]


def valid(column: pa.Array) -> Mask:
    """Return where a column is not NULL."""
    if not column.null_count:
        return np.ones(len(column), np.bool_)
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
