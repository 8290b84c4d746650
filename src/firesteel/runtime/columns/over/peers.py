"""What RANK and DENSE_RANK need of the rows before a stretch: how many there are, and how many different ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverPartitions
from firesteel.runtime.columns.aggregates.parts import Columns
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.over.partitions import Partitions
from firesteel.state.arrangements.columns import Numbers, numbers, same_rows
from firesteel.state.arrangements.sorting import Positions


class Peers:
    """The accumulators of rows in the order of a window, which add up over stretches that follow each other.

    They are the number of rows, that of the different values by which they are ordered, and the first and the last of
    these values.
    """

    def __init__(self, over: OverPartitions) -> None:
        schema = to_arrow_schema(over.input)
        self._columns = list(dict.fromkeys(key.column for key in over.order))
        kinds = [schema.field(column).type for column in self._columns]
        types = [pa.int64(), pa.int64(), *kinds, *kinds]
        self.fields = [pa.field(f"peers {place}", kind) for place, kind in enumerate(types)]

    def lift(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the accumulators of each row alone."""
        one = pa.array(np.ones(rows.num_rows, np.int64))
        values = [rows.column(column) for column in self._columns]
        return [one, one, *values, *values]

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Return the accumulators of each group, of those of stretches in their order."""
        counts, different, *_ = columns
        firsts, lasts = self._ends(columns)
        joined = np.zeros(len(counts), np.int64)
        before, after = pa.array(groups.order[:-1]), pa.array(groups.order[1:])
        joined[groups.order[1:]] = self._same(
            (value.take(before) for value in lasts), (value.take(after) for value in firsts), len(before)
        )
        joined[groups.firsts] = 0
        return [
            pa.array(groups.sums(numbers(counts))),
            pa.array(groups.sums(numbers(different) - joined)),
            *(value.take(pa.array(groups.firsts)) for value in firsts),
            *(value.take(pa.array(groups.lasts)) for value in lasts),
        ]

    def ranked(
        self, call: Aggregation, partitions: Partitions, places: Positions, columns: Columns
    ) -> pa.Array:
        """Return the ranks of rows, of which those at some `places` stand for the rows of accumulators before them.

        Such a row begins its partition, and equals the one after it.
        """
        counts, different, *_ = columns
        given = partitions.special(call)
        assert given is not None
        found: Numbers = numbers(given).copy()
        number = np.searchsorted(places, partitions.first, "right") - 1
        behind = np.flatnonzero((number >= 0) & (np.append(places, -1)[number] == partitions.first))
        number = number[behind]
        if call.function == "RANK":
            found[behind] = numbers(counts)[number] + np.maximum(found[behind] - 1, 1)
            return pa.array(found)
        first = partitions.rows.take(pa.array(places))
        _, lasts = self._ends(columns)
        goes_on = self._same(lasts, (first.column(column) for column in self._columns), len(places))
        found[behind] += (numbers(different) - goes_on)[number]
        return pa.array(found)

    def _ends(self, columns: Columns) -> tuple[list[pa.Array], list[pa.Array]]:
        """Return the first and the last values of the order."""
        width = len(self._columns)
        return list(columns[2 : 2 + width]), list(columns[2 + width :])

    def _same(self, ones: Iterable[pa.Array], others: Iterable[pa.Array], count: int) -> Numbers:
        """Return 1 for each of `count` rows with equal values in the order, else 0."""
        names = [str(column) for column in self._columns]
        if not names:
            return np.ones(count, np.int64)
        one, other = (pa.RecordBatch.from_arrays(list(values), names=names) for values in (ones, others))
        return same_rows(one, other, names).astype(np.int64)
