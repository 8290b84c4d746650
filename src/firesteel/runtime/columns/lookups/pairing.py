"""Left rows beside the rows that were found for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.state.arrangements.sorting import Positions


def with_others(here: Positions, there: Positions, count: int) -> tuple[Positions, Positions]:
    """Return pairs of places of left and right rows, and a pair for each of `count` left rows that is in none.

    >>> here, there = with_others(np.array([1, 1]), np.array([4, 7]), 3)
    >>> here.tolist(), there.tolist()
    ([1, 1, 0, 2], [4, 7, -1, -1])
    """
    alone = np.setdiff1d(np.arange(count), here)
    return np.append(here, alone), np.append(there, np.full(len(alone), -1))


def joined(
    left: ColumnBatch, here: Positions, there: Positions, right: pa.RecordBatch, schema: pa.Schema
) -> Iterator[ColumnBatch]:
    """Yield pairs of places of left and right rows (below 0: none) in the order of left rows, with their kinds."""
    order = np.argsort(here, kind="stable")
    here, there = here[order], there[order]
    columns = [*left.rows.take(pa.array(here)).columns, *right.take(pa.array(there, mask=there < 0)).columns]
    kinds = None if left.kinds is None else left.kinds[here]
    yield from ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=schema), kinds).parts()
