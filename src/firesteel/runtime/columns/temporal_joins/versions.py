"""The rows that are the last ones of their keys by time when they come, for joins with earlier states of a table."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.temporal_joins import Versions
from firesteel.runtime.columns.batch import INSERT, UPDATE_AFTER, ColumnBatch
from firesteel.runtime.columns.settling import GatheringOperator
from firesteel.runtime.columns.times import Times, present_times
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.sorting import Positions

_TIME: Final = "time"
_NEVER: Final = -(1 << 63)


class VersionsOperator(GatheringOperator):
    """Emits the first row of a key as an insert, and each row that is not earlier than all before it as an update.

    Source: Flink's RowTimeDeduplicateFunction, which keeps the last row.
    """

    most = 1 << 18

    def __init__(self, versions: Versions) -> None:
        self._spec = versions
        self._keys = Keys(to_arrow_schema(versions.row), versions.keys)
        self._layout = Layout(
            pa.schema([*self._keys.fields, pa.field(_TIME, pa.int64(), nullable=False)]),
            tuple(self._keys.names),
        )

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the last times."""
        super().open(context)
        assert context.arrangements is not None
        self._last = context.arrangements.declare("last", self._layout)

    def _take(self, batch: ColumnBatch) -> None:
        times = present_times(batch, self._spec.time, self.context.who)
        columns = self._keys.columns(batch)
        codes, firsts = codes_of(columns)
        keys = pa.RecordBatch.from_arrays(columns, schema=pa.schema(self._keys.fields)).take(pa.array(firsts))
        known = np.full(len(firsts), _NEVER)
        found = self._last.get(keys)
        known[found.keys] = numbers(found.rows.column(_TIME))
        latest = known.copy()
        np.maximum.at(latest, codes, times)
        self._emit(batch, last_rows(codes, times, known), known[codes] == _NEVER, codes)
        moved = np.flatnonzero(latest > known)
        rows = [*keys.take(pa.array(moved)).columns, pa.array(latest[moved])]
        self._last.put(pa.RecordBatch.from_arrays(rows, schema=self._layout.rows))

    def _emit(self, batch: ColumnBatch, places: Positions, new: Times, codes: Positions) -> None:
        if not len(places):
            return
        kinds = np.full(len(places), UPDATE_AFTER)
        _, firsts = np.unique(codes[places], return_index=True)
        kinds[firsts[new[places[firsts]]]] = INSERT
        for part in ColumnBatch(batch.rows.take(pa.array(places)), kinds).parts():
            self.output.emit(part)


def last_rows(codes: Positions, times: Times, known: Times) -> Positions:
    """Return the places of the rows that are not earlier than all rows of their key before them, in their order.

    Rows have the numbers of their keys in `codes`; `known` has the latest time of each key before all rows.

    >>> last_rows(np.array([0, 1, 0, 0, 1]), np.array([5, 1, 4, 5, 2]), np.array([3, 2])).tolist()
    [0, 3, 4]
    """
    order = np.argsort(codes, kind="stable")
    by_key = codes[order]
    begins = np.flatnonzero(np.append(True, by_key[1:] != by_key[:-1]))
    # Ranks of times, so that the maxima of one key stay below all of the next one.
    ranks = np.unique(np.concatenate((times[order], known)), return_inverse=True)[1]
    mine, before = ranks[: len(order)], ranks[len(order) :]
    count = int(ranks.max()) + 1
    first = mine.copy()
    first[begins] = np.maximum(first[begins], before[by_key[begins]])
    highest = np.maximum.accumulate(first + by_key * count) - by_key * count
    kept: Positions = np.sort(order[mine >= highest])
    return kept
