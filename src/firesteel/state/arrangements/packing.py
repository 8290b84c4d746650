"""Columns of 64-bit numbers and times in as few bytes as their values need, on their way between tasks and to storage.

Values become their distances from the smallest one, of 0 (all are equal), 1, 2 or 4 bytes. So a count or a key takes a
byte or three instead of eight, for three passes over the values. Columns with NULL,
or of other types, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.columns import numbers

WORTH: Final = 1024
"""The rows from which it saves more than it costs."""

_AS_IS: Final = 8
_WIDTHS: Final = (0, 1, 2, 4)
_BASE: Final = np.dtype("<i8")


def form_of(batches: Sequence[pa.RecordBatch]) -> bytes:
    """Return how the rows of at least one batch can be packed: the width of each column, then the least values.

    >>> rows = pa.RecordBatch.from_pydict({"k": [70_000, 70_001], "n": [1, 1], "t": ["a", "b"]})
    >>> form = form_of([rows])
    >>> narrow = packed(rows, form)
    >>> narrow.schema.types, unpacked(narrow, form, rows.schema).equals(rows)
    ([DataType(uint8), DataType(null), DataType(string)], True)
    """
    found = [_measured([batch.column(place) for batch in batches]) for place in range(batches[0].num_columns)]
    least = [base for width, base in found if width < _AS_IS]
    return bytes(width for width, _ in found) + np.array(least, _BASE).tobytes()


def packed(rows: pa.RecordBatch, form: bytes) -> pa.RecordBatch:
    """Return rows with packed columns."""
    schema = packed_schema(rows.schema, form)
    columns = [
        column if width == _AS_IS else _packed(column, width, base)
        for column, width, base in _parts(rows, form)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def unpacked(rows: pa.RecordBatch, form: bytes, schema: pa.Schema) -> pa.RecordBatch:
    """Return packed rows as they were before, with their own schema."""
    columns = [
        column if width == _AS_IS else _unpacked(column, width, base).view(kind)
        for (column, width, base), kind in zip(_parts(rows, form), schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def packed_schema(schema: pa.Schema, form: bytes) -> pa.Schema:
    """Return the schema of packed rows; the metadata stays."""
    return _packed_schema(schema, form[: len(schema)])


@lru_cache(256)
def _packed_schema(schema: pa.Schema, widths: bytes) -> pa.Schema:
    fields = [
        field if width == _AS_IS else pa.field(field.name, _kind(width))
        for field, width in zip(schema, widths, strict=True)
    ]
    return pa.schema(fields, schema.metadata)


def _kind(width: int) -> pa.DataType:
    return pa.from_numpy_dtype(f"u{width}") if width else pa.null()


def _parts(rows: pa.RecordBatch, form: bytes) -> Iterator[tuple[pa.Array, int, int]]:
    """Yield each column with its width and its least value."""
    count = rows.num_columns
    bases = iter(np.frombuffer(form, _BASE, offset=count).tolist())
    for column, width in zip(rows.columns, form[:count], strict=True):
        yield column, width, 0 if width == _AS_IS else next(bases)


def _measured(columns: Sequence[pa.Array]) -> tuple[int, int]:
    """Return the bytes that the distances from the least value need, and that value."""
    columns = [column for column in columns if len(column)]
    if not columns or not _has_64_bits(columns[0].type) or any(column.null_count for column in columns):
        return _AS_IS, 0
    values = list(map(numbers, columns))
    least = min(int(part.min()) for part in values)
    spread = max(int(part.max()) for part in values) - least
    return next((width for width in _WIDTHS if spread < 1 << 8 * width), _AS_IS), least


def _has_64_bits(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_int64(kind) or types.is_timestamp(kind) or types.is_duration(kind))


def _packed(column: pa.Array, width: int, base: int) -> pa.Array:
    if not width:
        return pa.nulls(len(column))
    return pa.array((numbers(column) - base).astype(f"u{width}"))


def _unpacked(column: pa.Array, width: int, base: int) -> pa.Array:
    if not width:
        return pa.array(np.full(len(column), base))
    return pa.array(column.to_numpy().astype(np.int64) + base)
