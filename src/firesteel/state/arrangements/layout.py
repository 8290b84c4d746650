"""The columns of an arrangement, and what two rows with the same identity mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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

    `hashed` is the hash function; another one is for tests of collisions.

    Raises ValueError if a column is missing or a name is reserved.
    """

    rows: pa.Schema
    keys: tuple[str, ...]
    kind: Kind = Kind.UPSERT
    leading: str | None = None
    hashed: Callable[[Sequence[pa.Array]], Words] = field(default=hash_columns, compare=False)

    def __post_init__(self) -> None:
        missing = {*self.keys, *filter(None, [self.leading])} - set(self.rows.names)
        if missing:
            raise ValueError(f"the layout has no columns {sorted(missing)}")
        if any(name.startswith("$") for name in self.rows.names):
            raise ValueError(f"names of columns that start with $ are reserved: {self.rows.names}")
        if self.leading in self.keys:
            raise ValueError(f"column {self.leading} is leading, and so it cannot be one of {self.keys}")

    @cached_property
    def stored(self) -> pa.Schema:
        """The schema of stored changes: the words that rows are sorted by, the rows' columns, and the weight."""
        words = [HASH] if self.kind is Kind.UPSERT else [HASH, IDENTITY]
        return pa.schema(
            [
                *(pa.field(name, pa.uint64(), nullable=False) for name in words),
                *self.rows,
                pa.field(WEIGHT, pa.int64(), nullable=False),
            ]
        )

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

    def _none(self, rows: pa.RecordBatch) -> Words:
        return self.hashed([pa.nulls(rows.num_rows)])


def encode_layout(layout: Layout) -> bytes:
    """Return a layout as bytes, for manifests.

    >>> layout = Layout(pa.schema([("time", pa.int64()), ("key", pa.string())]), ("key",), leading="time")
    >>> decode_layout(encode_layout(layout)) == layout
    True
    """
    schema = layout.rows.serialize().to_pybytes()
    return msgspec.msgpack.encode((schema, layout.keys, layout.kind.value, layout.leading))


def decode_layout(data: bytes) -> Layout:
    """Return the layout that `encode_layout` was given."""
    schema, keys, kind, leading = msgspec.msgpack.decode(data)
    return Layout(pa.ipc.read_schema(pa.py_buffer(schema)), tuple(keys), Kind(kind), leading)
