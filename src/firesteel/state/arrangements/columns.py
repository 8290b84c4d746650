"""Arrow columns as numpy arrays, and the comparison of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.state.arrangements.hashing import spans

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


def numbers(column: pa.Array) -> Numbers:
    """Return a column of 64-bit integers or times, without nulls, as numbers that share its memory."""
    return np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column)]


def rows_at(rows: pa.RecordBatch, places: npt.NDArray[np.int64]) -> pa.RecordBatch:
    """Return the rows at different places; all rows in their order without a copy."""
    if len(places) == rows.num_rows and bool((places[1:] > places[:-1]).all()):
        return rows
    return rows.take(pa.array(places))


def has_nulls(rows: pa.RecordBatch) -> bool:
    """Return whether a value in any column is NULL."""
    return any(column.null_count for column in rows.columns)


def same_rows(first: pa.RecordBatch, second: pa.RecordBatch, columns: Sequence[str]) -> Mask:
    """Return for each row whether it equals the other batch's row in some columns; NULL and NaN equal themselves.

    >>> rows = pa.RecordBatch.from_pydict({"a": [1, None, 3], "b": ["x", "y", "z"]})
    >>> same_rows(rows, pa.RecordBatch.from_pydict({"a": [1, None, 4], "b": ["x", "y", "z"]}), ["a", "b"]).tolist()
    [True, True, False]
    """
    same: Mask = np.ones(first.num_rows, np.bool_)
    for name in columns:
        same &= _equal(first.column(name), second.column(name))
    return same


def _equal(left: pa.Array, right: pa.Array) -> Mask:
    kind = left.type
    if pa.types.is_null(kind):
        return np.ones(len(left), np.bool_)
    if pa.types.is_struct(kind):
        same: Mask = np.asarray(left.is_valid()) == np.asarray(right.is_valid())
        for one, other in zip(left.flatten(), right.flatten(), strict=True):
            same &= _equal(one, other)
        return same
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        return _equal_lists(left, right)
    if pa.types.is_floating(kind):  # as bits: 0.0 and -0.0 differ
        bits = pa.int32() if kind.bit_width == 32 else pa.int64()
        equal = pc.equal(left.view(bits), right.view(bits))
        equal = pc.or_(equal, pc.and_(pc.is_nan(left), pc.is_nan(right)))
    else:
        equal = pc.equal(left, right)
    if left.null_count or right.null_count:
        equal = pc.if_else(pc.and_(left.is_null(), right.is_null()), True, pc.fill_null(equal, False))
    return np.asarray(equal)


def _equal_lists(left: pa.Array, right: pa.Array) -> Mask:
    one, other = spans(left), spans(right)
    same: Mask = np.asarray(left.is_valid()) == np.asarray(right.is_valid())
    same &= one.lengths == other.lengths
    rows = np.flatnonzero(same & (one.lengths > 0))
    lengths = one.lengths[rows]
    begins = np.cumsum(lengths) - lengths
    steps = np.arange(lengths.sum()) - np.repeat(begins, lengths)
    mine, others = (pa.array(np.repeat(found.starts[rows], lengths) + steps) for found in (one, other))
    equal = _equal(one.values.take(mine), other.values.take(others))
    if len(rows):
        same[rows] &= np.logical_and.reduceat(equal, begins)
    return same
