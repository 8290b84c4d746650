"""How what is known of rows differs before and after changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.state.arrangements.columns import Mask, Numbers, same_rows
from firesteel.state.arrangements.sorting import Positions


class Known(NamedTuple):
    """Rows with what is known of them, the numbers of their partitions, and when they came."""

    rows: pa.RecordBatch
    codes: Positions
    arrivals: Numbers


def differences(before: Known, after: Known) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return the rows that are no longer so, and those that are so now.

    >>> rows = pa.RecordBatch.from_pydict({"a": [1, 2]})
    >>> more = pa.RecordBatch.from_pydict({"a": [1, 3, 4]})
    >>> codes = np.array([0, 0, 1])
    >>> found = differences(Known(rows, codes[:2], np.array([5, 6])), Known(more, codes, np.array([5, 6, 7])))
    >>> [part["a"].to_pylist() for part in found]
    [[2], [3, 4]]
    """
    pairs = [np.concatenate(both) for both in zip(before[1:], after[1:], strict=True)]
    numbers, _ = codes_of(list(map(pa.array, pairs)))
    was, now = numbers[: len(before.codes)], numbers[len(before.codes) :]
    place = np.full(int(numbers.max(initial=-1)) + 1, -1)
    place[was] = np.arange(len(was))
    stays = np.flatnonzero(place[now] >= 0)
    same = same_rows(
        before.rows.take(pa.array(place[now[stays]])),
        after.rows.take(pa.array(stays)),
        before.rows.schema.names,
    )
    fresh: Mask = np.ones(len(now), np.bool_)
    fresh[stays[same]] = False
    gone: Mask = np.ones(len(was), np.bool_)
    gone[place[now[stays[same]]]] = False
    return before.rows.filter(pa.array(gone)), after.rows.filter(pa.array(fresh))
