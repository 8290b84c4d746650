"""OVER in STREAMING mode over rows that come and go, in any order: rows get other results as others come or go.

All rows are kept. Once in an epoch, the rows around those that have changed are read, as far as the calls see, and
computed before and after the changes; those whose results are others, or that have come or gone, are sent. With frames
of some rows or values, the cost is that of a few hundred rows around each change, however large a partition is. With
frames from the first row on, and of ranks, it is that of the rows from the first change on, if the calls add up
exactly; those before it are known by their accumulators. Frames without an end, arrays, and functions such as NTILE see
all rows of a partition, and cost as much as the partitions that have changed. So do sums of floating point numbers from
the first row on, which must be added up in one way only, so that what is taken back is what was given.

Rows that are equal in the order are in that of their arrival, as in Flink. Source: Flink's
NonTimeRowsUnboundedPrecedingFunction and NonTimeRangeUnboundedPrecedingFunction, which have frames of all rows up to
the current one, in ascending order of one value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import OverPartitions
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.entries import Entries
from firesteel.runtime.columns.over.blocks import BlockedRows, Stretches
from firesteel.runtime.columns.over.differences import Known, differences
from firesteel.runtime.columns.over.framing import Earlier, FramedCalls
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.sorting import Positions


class OverChangesOperator(ChangingOperator):
    """Appends the results of the calls to rows that come and go: sends deletes, then inserts."""

    most = 1 << 18

    def __init__(self, over: OverPartitions) -> None:
        self._over = over
        self._schema = to_arrow_schema(over.output)
        self._input = to_arrow_schema(over.input)
        self._calls = FramedCalls(over)
        self._rows = BlockedRows(over, self._calls)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of the rows."""
        super().open(context)
        require_sortable(self._input, self._over.order, context.who)
        self._calls.open(context)
        assert context.arrangements is not None
        self._rows.declare(context.arrangements, context.max_parallelism)

    def close(self) -> None:
        """Close the user's functions."""
        self._calls.close()
        super().close()

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        stretches = self._rows.apply(self._rows.numbered(batch, first), batch.signs())
        before, after = (self._results(stretches, one) for one in (stretches.before, stretches.after))
        self._replace(*differences(before, after))

    def _results(self, stretches: Stretches, entries: Entries) -> Known:
        """Return the results of some rows of the stretches."""
        (places, arrivals), codes = entries, stretches.codes[entries.places]
        chosen = stretches.rows.take(pa.array(places))
        given = pa.RecordBatch.from_arrays(chosen.columns[: len(self._input)], schema=self._input)
        order = sorting(codes, given, self._over.order, arrivals)
        rows, codes = given.take(pa.array(order)), codes[order]
        results = self._computed(rows, codes, stretches.earlier)
        found = pa.RecordBatch.from_arrays([*rows.columns, *results], schema=self._schema)
        return Known(found, codes, np.asarray(arrivals)[order])

    def _computed(self, rows: pa.RecordBatch, codes: Positions, earlier: Earlier | None) -> list[pa.Array]:
        """Return the results of the calls for sorted rows; stretches in `earlier` have rows before their first one."""
        if earlier is None:
            return self._calls.of(Partitions(codes, rows, self._over.order))
        first = np.searchsorted(codes, earlier.places, "left")
        there = np.flatnonzero(first < np.searchsorted(codes, earlier.places, "right"))
        at = first[there]
        twice = np.insert(np.arange(len(codes)), at, at)  # the first row stands for those before it, too
        virtual = at + np.arange(len(at))
        known = [column.take(pa.array(there)) for column in earlier.columns]
        partitions = Partitions(codes[twice], rows.take(pa.array(twice)), self._over.order)
        results = self._calls.of(partitions, Earlier(virtual, known))
        real = pa.array(np.delete(np.arange(len(twice)), virtual))
        return [result.take(real) for result in results]
