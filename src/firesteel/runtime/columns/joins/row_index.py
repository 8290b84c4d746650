"""Rows that stay, found by their keys a batch at a time.

Rows lie in buckets, and a bucket is a stretch of one array, so that a look-up is two gathers and no loop. Whole
numbers that are close to each other, as surrogate keys are, have a bucket each; other keys have the low bits of their
hash, with at least twice as many buckets as rows, and what is found is compared. A few rows have more: then most rows
that find no partner find an empty bucket.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.state.arrangements.columns import Numbers, same_rows
from firesteel.state.arrangements.hashing import Words, hash_columns
from firesteel.state.arrangements.sorting import Positions

Pairs = tuple[Positions, Positions]

_SPARSE: Final = 4
"""Buckets for each row, up to which numbers have a bucket each."""

_LEAST: Final = 1 << 21
"""Buckets that numbers may have in any case (16 MiB): to find one takes a tenth of the time of a hash."""

_SPREAD: Final = 16
_MANY: Final = 1 << 20
"""Rows have so many buckets of hashes each, as long as these are no more than so many."""


class RowIndex:
    """The places of rows by their keys; `keys` may have no columns: then all of `count` rows have the same key.

    Contract: `buckets` are those of other rows; a pair of a row of the bucket and the other row is a candidate, of
    which `equal` keeps those with equal keys (NULL equals itself).

    >>> index = RowIndex(pa.RecordBatch.from_pydict({"k": [7, 8, 7]}), 3)
    >>> index.buckets(pa.RecordBatch.from_pydict({"k": [8, 9]}), 2).tolist(), index.exact
    ([1, 2], True)
    """

    def __init__(self, keys: pa.RecordBatch, count: int) -> None:
        self._keys = keys
        self._first: int | None = None
        self._words: Words | None = None
        numbers = _numbers(keys.column(0)) if _has_numbers(keys) else None
        if not keys.num_columns:
            self._size, mine = 1, np.zeros(count, np.int64)
        elif numbers is not None and _are_close(numbers):
            self._first = int(numbers.min())
            self._size, mine = int(numbers.max()) - self._first + 1, numbers - self._first
        else:
            self._words = hash_columns(keys.columns)
            self._size = 1 << max((2 * count).bit_length(), min(_SPREAD * count, _MANY - 1).bit_length())
            mine = self._masked(self._words)
        lengths = np.bincount(mine, minlength=self._size + 1)
        self.rows = Segments(np.argsort(mine, kind="stable"), np.cumsum(lengths) - lengths)

    @property
    def exact(self) -> bool:
        """Whether all rows of a bucket have one key."""
        return self._words is None

    def buckets(self, keys: pa.RecordBatch, count: int) -> Positions:
        """Return the bucket of each of `count` other rows with these keys; the last bucket is that of no row."""
        if self._words is not None:
            return self._masked(hash_columns(keys.columns))
        if self._first is None:
            return np.zeros(count, np.int64)
        (column,) = keys.columns
        numbers = _numbers(column.fill_null(0) if column.null_count else column)
        places = numbers - self._first
        # As unsigned numbers, those below the first are large, also where the difference has wrapped around.
        outside = (numbers < self._first) | (places.view(np.uint64) >= np.uint64(self._size))
        if column.null_count:  # no row here has such a key
            outside |= np.asarray(column.is_null())
        return np.where(outside, self._size, places)

    def equal(self, keys: pa.RecordBatch, pairs: Pairs) -> Pairs:
        """Return those candidates, pairs of places here and in `keys`, whose keys are equal."""
        if self._words is None:
            return pairs
        here, there = pairs
        same = same_rows(self._keys.take(pa.array(here)), keys.take(pa.array(there)), self._keys.schema.names)
        return here[same], there[same]

    def _masked(self, words: Words) -> Positions:
        return (words & np.uint64(self._size - 1)).astype(np.int64)


def _has_numbers(keys: pa.RecordBatch) -> bool:
    """Return whether keys are one column of whole numbers or of dates, none of which is NULL."""
    if keys.num_columns != 1:
        return False
    (column,) = keys.columns
    kind = column.type
    whole: bool = pa.types.is_signed_integer(kind) or pa.types.is_date32(kind)
    return whole and not column.null_count


def _numbers(column: pa.Array) -> Numbers:
    whole = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    return np.asarray(whole).astype(np.int64, copy=False)


def _are_close(numbers: Numbers) -> bool:
    return bool(len(numbers)) and int(numbers.max()) - int(numbers.min()) < _SPARSE * len(numbers) + _LEAST
