"""Which rows of two sides belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.joins import Join, Side
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.sorting import Positions

MOST: Final = 1 << 16
"""How many pairs are looked at together."""


def equal_pairs(groups: Segments, keys: Positions) -> Iterator[tuple[Positions, Positions]]:
    """Yield pairs of the place of a row in `groups` and the place of a row whose key is the number of its group.

    Each part has at most about `MOST` pairs, or those of one row.

    >>> groups = Segments(np.array([1, 0, 2]), np.array([0, 1]))
    >>> [[part.tolist() for part in pair] for pair in equal_pairs(groups, np.array([1, 0, 1]))]
    [[[0, 2, 1, 0, 2], [0, 0, 1, 2, 2]]]
    """
    counts = groups.lengths[keys]
    ends = np.cumsum(counts)
    start = 0
    while start < len(keys):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + MOST, "right")))
        mine = counts[start:stop]
        steps = np.arange(int(ends[stop - 1]) - done) - np.repeat(ends[start:stop] - mine - done, mine)
        firsts = np.repeat(groups.starts[keys[start:stop]], mine)
        yield groups.order[firsts + steps], np.repeat(np.arange(start, stop), mine)
        start = stop


class Condition:
    """What must be TRUE of a pair besides the keys; `who` names the operator in errors."""

    def __init__(self, join: Join, who: str) -> None:
        self._statement = None if join.condition is None else Statement(join.condition, who)

    def of(
        self, side: Side, mine: pa.RecordBatch, theirs: pa.RecordBatch, pairs: tuple[Positions, Positions]
    ) -> tuple[Positions, Positions]:
        """Return those of the pairs for which it is TRUE; `mine` are rows of a side, `theirs` of the other one."""
        if self._statement is None or not len(pairs[0]):
            return pairs
        rows = paired(side, mine, theirs, pairs)
        place = pa.array(np.arange(rows.num_rows))
        found = self._statement.run(ColumnBatch(rows.append_column("$pair", place)))
        left = numbers(found.rows.column(0))
        return pairs[0][left], pairs[1][left]

    def close(self) -> None:
        """Release what was prepared."""
        if self._statement is not None:
            self._statement.close()


def paired(
    side: Side, mine: pa.RecordBatch, theirs: pa.RecordBatch, pairs: tuple[Positions, Positions]
) -> pa.RecordBatch:
    """Return the columns of the left rows of pairs, and then those of the right ones, named by their places."""
    first, second = mine.take(pa.array(pairs[0])), theirs.take(pa.array(pairs[1]))
    columns = [*first.columns, *second.columns] if side == 0 else [*second.columns, *first.columns]
    return pa.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(columns))])
