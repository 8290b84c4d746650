"""Rows that wait until they are worth a step of vectorised work, with the time up to which windows were over before.

A watermark between two batches costs a receiver one number, and not a step. The receiver works on all rows together,
and looks at the numbers only to find rows that came too late.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from firesteel.runtime.columns.batch import ColumnBatch, concatenated
from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.sorting import distinct

MOST_ROWS: Final = 1 << 18
"""The rows that are gathered at most before they are worked on."""


class Gathered:
    """Batches, each with the local time up to which windows were over when it came; `rows` counts their rows."""

    __slots__ = ("_batches", "_over", "rows")

    def __init__(self) -> None:
        self._batches: list[ColumnBatch] = []
        self._over: list[int] = []
        self.rows = 0

    def add(self, batch: ColumnBatch, over: int) -> None:
        """Add the next batch."""
        self._batches.append(batch)
        self._over.append(over)
        self.rows += len(batch)

    def take(self) -> tuple[ColumnBatch, Times] | None:
        """Return all rows, and for each the time when it came, and forget them; None if there are none."""
        batches, over = self._batches, self._over
        self._batches, self._over, self.rows = [], [], 0
        if not batches:
            return None
        return concatenated(batches), np.repeat(np.array(over, np.int64), [len(batch) for batch in batches])


def stages(over: Times, early: Mask) -> Iterator[tuple[int, int, int | None]]:
    """Yield stretches of rows, each with the time up to which windows must fire before it (None: nothing must).

    `over` ascends. `early` marks rows of which some windows were over when they came, and others were not: the former
    must have fired before such a row is added.

    >>> [*stages(np.array([1, 1, 4, 4]), np.array([False, False, False, True]))]
    [(0, 2, None), (2, 4, 4)]
    """
    times = distinct(over[early])
    bounds = [0, *np.searchsorted(over, times, "left").tolist(), len(over)]
    before: list[int | None] = [None, *times.tolist()]
    for start, stop, until in zip(bounds[:-1], bounds[1:], before, strict=True):
        if start < stop:
            yield start, stop, until
