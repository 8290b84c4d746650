"""The columns of an arrangement, what two rows with the same identity mean, and how long rows live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

import msgspec
import pyarrow as pa

from firesteel.state.arrangements.hashing import Words, hash_columns

HASH: Final = "$hash"
"""The column of the hash of a row's keys."""

IDENTITY: Final = "$identity"
"""The column of the hash of a row's other columns, in a multiset."""

SINCE: Final = "$since"
"""The column of the first write time of those that a weight is the sum of, in a multiset with a time to live."""

WRITTEN: Final = "$written"
"""The column of the last write time (milliseconds), with a time to live."""

WEIGHT: Final = "$weight"
"""The last column of changes. Upsert: 1 puts the row, -1 deletes the one with its keys. Multiset: how many rows are
added (below 0: removed)."""


class Kind(StrEnum):
    """What an arrangement holds."""

    UPSERT = "upsert"
    """At most one row for each key; a later row replaces an earlier one."""

    MULTISET = "multiset"
    """Any rows, each any number of times; their weights are added."""


@dataclass(frozen=True)
class Layout:
    """The form of an arrangement.

    `rows` is the schema of its rows. `keys` are the columns by which rows are looked up. `leading`, if any, is a column
    of 64-bit integers (a time, in milliseconds) that belongs to the key and by which rows are sorted before all others,
    so that the rows up to a time are a range. All rows are sorted by (leading, hash of the keys, hash of the rest).

    A row lives for `time_to_live` milliseconds after it was last written (None: for ever), as state does in Flink with
    `OnCreateAndWrite` and `NeverReturnExpired`: from then on it does not exist. In a multiset every change of a row's
    weight writes it, and a row that comes after its equals have expired counts from zero.

    `hashed` is the hash function; another one is for tests of collisions. `note` is for those who show the rows.

    Raises ValueError if a column is missing, a name is reserved or the time to live is not above 0.
    """

    rows: pa.Schema
    keys: tuple[str, ...]
    kind: Kind = Kind.UPSERT
    leading: str | None = None
    time_to_live: int | None = None
    hashed: Callable[[Sequence[pa.Array]], Words] = field(default=hash_columns, compare=False)
    note: bytes = field(default=b"", compare=False, repr=False)

    def __post_init__(self) -> None:
        missing = {*self.keys, *filter(None, [self.leading])} - set(self.rows.names)
        if missing:
            raise ValueError(f"the layout has no columns {sorted(missing)}")
        if any(name.startswith("$") for name in self.rows.names):
            raise ValueError(f"names of columns that start with $ are reserved: {self.rows.names}")
        if self.leading in self.keys:
            raise ValueError(f"column {self.leading} is leading, and so it cannot be one of {self.keys}")
        if self.time_to_live is not None and self.time_to_live <= 0:
            raise ValueError(f"the time to live must be above 0, not {self.time_to_live} ms")

    @cached_property
    def stored(self) -> pa.Schema:
        """The schema of stored changes: the words that rows are sorted by, the rows' columns, and the weight."""
        words = [HASH] if self.kind is Kind.UPSERT else [HASH, IDENTITY]
        return pa.schema(
            [
                *(pa.field(name, pa.uint64(), nullable=False) for name in words),
                *self.rows,
                *(pa.field(name, pa.int64(), nullable=False) for name in (*self.times, WEIGHT)),
            ]
        )

    @cached_property
    def times(self) -> tuple[str, ...]:
        """The columns of write times."""
        if self.time_to_live is None:
            return ()
        return (WRITTEN,) if self.kind is Kind.UPSERT else (SINCE, WRITTEN)

    @cached_property
    def identifying(self) -> tuple[str, ...]:
        """The columns that make two rows the same one."""
        if self.kind is Kind.MULTISET:
            return tuple(self.rows.names)
        return (*filter(None, [self.leading]), *self.keys)

    @cached_property
    def exact(self) -> bool:
        """Whether equal hashes of keys mean equal keys, if none is NULL: one number is mixed without loss."""
        kinds = [self.rows.field(name).type for name in self.keys]
        return self.hashed is hash_columns and len(kinds) == 1 and pa.types.is_integer(kinds[0])

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The columns of a row that are neither keys nor leading."""
        return tuple(name for name in self.rows.names if name not in (*self.keys, self.leading))

    def hash_of(self, rows: pa.RecordBatch) -> Words:
        """Return the hash of the keys of each row."""
        return self.hashed([rows.column(name) for name in self.keys]) if self.keys else self._none(rows)

    def identity_of(self, rows: pa.RecordBatch) -> Words:
        """Return the hash of the other columns of each row."""
        return self.hashed([rows.column(name) for name in self.others]) if self.others else self._none(rows)

    def expired_at(self, now: int) -> int | None:
        """Return the latest write time of the rows that no longer live at a time (None: all do)."""
        return None if self.time_to_live is None else now - self.time_to_live

    def takes_over(self, saved: Layout) -> bool:
        """Return whether this can continue with rows that another one stored: all but the length of life is equal."""
        if (self.time_to_live is None) != (saved.time_to_live is None):
            return False
        return replace(saved, time_to_live=self.time_to_live) == self

    def _none(self, rows: pa.RecordBatch) -> Words:
        return self.hashed([pa.nulls(rows.num_rows)])


def encode_layout(layout: Layout) -> bytes:
    """Return a layout as bytes, for manifests.

    >>> layout = Layout(pa.schema([("time", pa.int64()), ("key", pa.string())]), ("key",), leading="time")
    >>> decode_layout(encode_layout(layout)) == layout
    True
    """
    schema = layout.rows.serialize().to_pybytes()
    note = (layout.note,) if layout.note else ()
    return msgspec.msgpack.encode(
        (schema, layout.keys, layout.kind.value, layout.leading, layout.time_to_live, *note)
    )


def decode_layout(data: bytes) -> Layout:
    """Return the layout that `encode_layout` was given."""
    schema, keys, kind, leading, time_to_live, *note = msgspec.msgpack.decode(data)
    rows = pa.ipc.read_schema(pa.py_buffer(schema))
    return Layout(rows, tuple(keys), Kind(kind), leading, time_to_live, note=b"".join(note))
