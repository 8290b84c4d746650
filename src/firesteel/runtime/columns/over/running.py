"""Parts of accumulators over all rows of a key up to each row.

Rows are sorted by key, then in the order of the window; `first` has for each row the place of its key's first one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.chosen import Chosen
from firesteel.runtime.columns.aggregates.parts import Additive, Columns, Floats, Part
from firesteel.state.arrangements.columns import Numbers, numbers
from firesteel.state.arrangements.sorting import Positions

_LONG: Final = 64
"""Rows of a key, on average, from which its floating point numbers are added up key by key."""


def running(part: Part, columns: Columns, first: Positions) -> list[pa.Array]:
    """Return the columns of a part, which are given for each row, over the rows of its key up to it."""
    if isinstance(part, Additive):
        return [_sums(column, first) for column in columns]
    if isinstance(part, Chosen) and part.which in ("min", "max"):
        return [columns[0].take(_extremes(columns[0], part.which, first))]
    return _merged(part, columns, first)


def _sums(column: pa.Array, first: Positions) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pa.array(_running_sums(column.to_numpy(), first))
    values = numbers(column)
    sums: Numbers = np.cumsum(values)
    return pa.array(sums - (sums - values)[first])


def _running_sums(values: Floats, first: Positions) -> Floats:
    """Add up numbers in their order."""
    starts = np.flatnonzero(first == np.arange(len(first)))
    lengths = np.diff(starts, append=len(first))
    result = values.copy()
    if len(first) >= _LONG * len(starts):
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            np.cumsum(values[start : start + length], out=result[start : start + length])
        return result
    for place in range(1, int(lengths.max(initial=0))):
        rows = starts[lengths > place] + place
        result[rows] += result[rows - 1]
    return result


def _extremes(column: pa.Array, which: str, first: Positions) -> pa.Array:
    """Return the place of the extreme up to each row: the least rank, where those of later keys are less still."""
    count = len(column)
    order = pc.array_sort_indices(column, order="ascending" if which == "min" else "descending").to_numpy()
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    least = np.minimum.accumulate(rank - first * count) + first * count
    places = order.astype(np.int64)[least]
    return pa.array(places, mask=~np.asarray(column.is_valid())[places])


def _merged(part: Part, columns: Columns, first: Positions) -> list[pa.Array]:
    """Merge 1, 2, 4, ... rows with those before them (Hillis, Steele: Data parallel algorithms, 1986)."""
    done = list(columns)
    places = np.arange(len(first))
    reach = int((places - first).max(initial=0))
    step = 1
    while step <= reach:
        rows = np.flatnonzero(places - first >= step)
        earlier = [column.take(pa.array(rows - step)) for column in done]
        later = [column.take(pa.array(rows)) for column in done]
        done = replaced(done, rows, part.merge(earlier, later))
        step *= 2
    return done


def replaced(columns: Columns, rows: Positions, pieces: Columns) -> list[pa.Array]:
    """Return columns with other values at some rows.

    >>> replaced([pa.array([1, 2, 3])], np.array([1]), [pa.array([9])])[0].to_pylist()
    [1, 9, 3]
    """
    order = np.arange(len(columns[0]))
    order[rows] = len(order) + np.arange(len(rows))
    taken = pa.array(order)
    return [
        pa.concat_arrays([column, piece]).take(taken) for column, piece in zip(columns, pieces, strict=True)
    ]
