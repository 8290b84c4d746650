"""Batches of columns: rows of a relation that change, and the kind of each change."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from struct import Struct
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.types import RowKind
from firesteel.state.arrangements.packing import WORTH, form_of, packed, packed_schema, unpacked

COLUMNS: Final = 3
"""The codec of blocks with columns; see `firesteel.runtime.blocks.FORMS`."""

Kinds = npt.NDArray[np.int8]

INSERT: Final = np.int8(RowKind.INSERT.value)
UPDATE_BEFORE: Final = np.int8(RowKind.UPDATE_BEFORE.value)
UPDATE_AFTER: Final = np.int8(RowKind.UPDATE_AFTER.value)
DELETE: Final = np.int8(RowKind.DELETE.value)

_SIGNS: Final = np.array([1, -1, 1, -1], np.int64)
"""By kind, what a change adds to the number of rows."""

_HEAD: Final = Struct("<III")


class ColumnBatch:
    """Changes of a relation in order: Arrow columns, and the kind of each change (None: all are inserts).

    `kinds` has a `RowKind` as a number for each row. Its bytes are those of Arrow's IPC format without compression; a
    reader uses them where they are. Columns of 64-bit numbers are packed; see `firesteel.state.arrangements.packing`.

    >>> batch = ColumnBatch(pa.RecordBatch.from_pydict({"a": [1, 2, 3]}), np.array([0, 1, 2], np.int8))
    >>> batch.take([2, 0]).rows["a"].to_pylist(), batch.signs().tolist()
    ([3, 1], [1, -1, 1])
    """

    MOST: ClassVar[int] = 1 << 16

    __slots__ = ("kinds", "rows")

    def __init__(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> None:
        self.rows = rows
        self.kinds = kinds

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def slice(self, start: int, stop: int, step: int = 1) -> ColumnBatch:
        """Return every `step`th row from `start` to `stop` (exclusive)."""
        if step != 1:
            return self.take(np.arange(start, min(stop, len(self)), step))
        kinds = None if self.kinds is None else self.kinds[start:stop]
        return ColumnBatch(self.rows.slice(start, max(stop - start, 0)), kinds)

    def parts(self) -> Iterator[ColumnBatch]:
        """Yield the batch in parts of at most `MOST` rows."""
        for start in range(0, len(self), self.MOST):
            yield self if len(self) <= self.MOST else self.slice(start, start + self.MOST)

    def take(self, positions: Sequence[int] | npt.NDArray[np.int64]) -> ColumnBatch:
        """Return the rows at these positions, in their order."""
        at = np.asarray(positions, np.int64)
        return ColumnBatch(self.rows.take(pa.array(at)), None if self.kinds is None else self.kinds[at])

    def scatter(self, targets: npt.NDArray[np.int64], count: int) -> list[tuple[int, ColumnBatch]]:
        """Return the rows of each target that gets any, in their order; there are `count` targets.

        >>> batch = ColumnBatch(pa.RecordBatch.from_pydict({"a": [1, 2, 3]}))
        >>> [(target, part.rows["a"].to_pylist()) for target, part in batch.scatter(np.array([1, 0, 1]), 3)]
        [(0, [2]), (1, [1, 3])]
        """
        counts = np.bincount(targets, minlength=count)
        receivers = np.flatnonzero(counts).tolist()
        if len(receivers) == 1:
            return [(receivers[0], self)]
        in_order = self.take(np.argsort(np.asarray(targets).astype(np.uint16), kind="stable"))
        ends = np.cumsum(counts).tolist()
        return [(target, in_order.slice(ends[target] - counts[target], ends[target])) for target in receivers]

    def joined(self, others: Sequence[ColumnBatch]) -> ColumnBatch:
        """Return this batch's rows and then those of the others."""
        parts = (self, *others)
        rows = together([part.rows for part in parts])
        if all(part.kinds is None for part in parts):
            return ColumnBatch(rows)
        return ColumnBatch(rows, np.concatenate([part.all_kinds() for part in parts]))

    def copy(self) -> ColumnBatch:
        """Return the batch itself: columns cannot be changed."""
        return self

    def all_kinds(self) -> Kinds:
        """Return the kind of each change, for inserts, too."""
        return np.full(len(self), INSERT) if self.kinds is None else self.kinds

    def signs(self) -> npt.NDArray[np.int64]:
        """Return 1 for each row that a change adds and -1 for each that it removes."""
        return np.ones(len(self), np.int64) if self.kinds is None else _SIGNS[self.kinds]

    def encode(self) -> tuple[int, bytes]:
        """Return the codec and the bytes: sizes of what follows, the schema, how columns are packed, rows, kinds."""
        schema = _schema_bytes(self.rows.schema)
        kinds = b"" if self.kinds is None else self.kinds.tobytes()
        form = form_of([self.rows]) if len(self) >= WORTH else b""
        rows = packed(self.rows, form) if form else self.rows
        head = b"".join((_HEAD.pack(len(schema), len(form), len(kinds)), schema, form))
        return COLUMNS, b"".join((head, bytes(-len(head) % 8), rows.serialize(), kinds))

    @staticmethod
    def decode(data: memoryview) -> ColumnBatch:
        """Return the batch that `encode` turned into `data`."""
        schema_size, form_size, kinds_size = _HEAD.unpack_from(data)
        start = _HEAD.size + schema_size
        schema, form = _schema(bytes(data[_HEAD.size : start])), bytes(data[start : start + form_size])
        start += form_size
        start += -start % 8
        end = len(data) - kinds_size
        stored = packed_schema(schema, form) if form else schema
        rows = pa.ipc.read_record_batch(pa.py_buffer(data[start:end]), stored)
        if form:
            rows = unpacked(rows, form, schema)
        return ColumnBatch(rows, np.frombuffer(data[end:], np.int8) if kinds_size else None)


@lru_cache(256)
def _schema(data: bytes) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(data))


@lru_cache(256)
def _schema_bytes(schema: pa.Schema) -> bytes:
    return bytes(schema.serialize())


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows."""
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


def together(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of at least one batch, one after another.

    Parts of a union may say of one column that it is never NULL while others do not.

    >>> schemas = [pa.schema([pa.field("a", pa.int32(), nullable=nullable)]) for nullable in (False, True)]
    >>> rows = together([pa.RecordBatch.from_pylist([{"a": 1}], schema) for schema in schemas])
    >>> rows.num_rows, rows.schema.field("a").nullable
    (2, True)
    """
    schema = parts[0].schema
    if any(part.schema != schema for part in parts):
        for part in parts:
            schema = pa.schema(
                [
                    one.with_nullable(one.nullable or other.nullable)
                    for one, other in zip(schema, part.schema, strict=True)
                ]
            )
        parts = [pa.RecordBatch.from_arrays(part.columns, schema=schema) for part in parts]
    return pa.concat_batches(parts)


def reduced(rows: pa.RecordBatch, columns: Container[int]) -> pa.RecordBatch:
    """Return rows whose other columns are NULL, for those who need a few columns in their places.

    >>> rows = reduced(pa.RecordBatch.from_pydict({"a": [1], "b": ["x"]}), [1])
    >>> rows.to_pylist()
    [{'a': None, 'b': 'x'}]
    """
    nothing = pa.nulls(rows.num_rows)
    kept = [column if place in columns else nothing for place, column in enumerate(rows.columns)]
    return pa.RecordBatch.from_arrays(kept, names=rows.schema.names)


def concatenated(batches: Sequence[ColumnBatch]) -> ColumnBatch:
    """Return the rows of at least one batch, one after another."""
    first, *others = batches
    return first.joined(others) if others else first
