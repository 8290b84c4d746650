"""Which rows of two sides belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.joins import Join, Side
from firesteel.runtime.columns.aggregates.segments import Segments, segments_of
from firesteel.runtime.columns.batch import ColumnBatch, reduced
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.hashing import hash_columns
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
    fruitful = np.flatnonzero(counts)
    # Where most rows have no partner, what follows need not look at them.
    if 2 * len(fruitful) < len(keys):
        for one, other in equal_pairs(groups, keys[fruitful]):
            yield one, fruitful[other]
        return
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


def grouped(mine: pa.RecordBatch, theirs: pa.RecordBatch) -> tuple[Segments, Positions]:
    """Return groups of equal rows of `mine`, and the number of the group of each row of `theirs`, which may be empty.

    >>> rows = [pa.RecordBatch.from_pydict({"k": values}) for values in ([7, 8, 7], [8, 9])]
    >>> groups, numbers = grouped(*rows)
    >>> [groups.order[groups.starts[number] :][: groups.lengths[number]].tolist() for number in numbers]
    [[1], []]
    """
    count = mine.num_rows
    every = pa.concat_batches([mine, theirs])
    found = segments_of(every, hash_columns(every.columns))
    mine_first = found.order < count
    before = np.cumsum(mine_first) - mine_first
    return Segments(found.order[mine_first], before[found.starts]), found.numbers[count:]


def unmatchable(join: Join, side: Side, rows: pa.RecordBatch) -> Mask:
    """Return which rows of a side have a NULL in a key, so that nothing equals them."""
    found: Mask = np.zeros(rows.num_rows, np.bool_)
    for place, safe in zip(join.keys[side], join.null_safe, strict=True):
        column = rows.column(place)
        if column.null_count and not safe:
            found |= np.asarray(column.is_null())
    return found


class Condition:
    """What must be TRUE of a pair besides the keys; `who` names the operator in errors."""

    def __init__(self, join: Join, who: str) -> None:
        self._statement = None if join.condition is None else Statement(join.condition, who)
        self._reads: tuple[frozenset[int], ...] = ()
        if join.condition is not None:
            width = len(join.left.fields)
            left = frozenset(range(width))
            reads = join.condition.reads
            self._reads = reads & left, frozenset(place - width for place in reads - left)

    def of(
        self, side: Side, mine: pa.RecordBatch, theirs: pa.RecordBatch, pairs: tuple[Positions, Positions]
    ) -> tuple[Positions, Positions]:
        """Return those of the pairs for which it is TRUE; `mine` are rows of a side, `theirs` of the other one."""
        if self._statement is None or not len(pairs[0]):
            return pairs
        rows = paired(side, reduced(mine, self._reads[side]), reduced(theirs, self._reads[1 - side]), pairs)
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


def alone(side: Side, rows: pa.RecordBatch, others: pa.Schema) -> pa.RecordBatch:
    """Return rows of a side beside NULL in the columns of the other one, named by their places.

    >>> rows = pa.RecordBatch.from_pydict({"a": [1]})
    >>> alone(1, rows, pa.schema([("b", pa.int64())])).to_pylist()
    [{'0': None, '1': 1}]
    """
    nothing = [pa.nulls(rows.num_rows, field.type) for field in others]
    columns = [*rows.columns, *nothing] if side == 0 else [*nothing, *rows.columns]
    return pa.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(columns))])
