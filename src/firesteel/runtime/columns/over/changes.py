"""OVER by values in STREAMING mode: a row gets its result at once, and another one whenever rows come before it or go.

All rows are kept. Once in an epoch, the partitions that have changed are read, and computed before and after the
changes; the rows whose results are others, or that have come or gone, are sent.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import OverPartitions
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.tables import PartitionEntries
from firesteel.runtime.columns.over.differences import Known, differences
from firesteel.runtime.columns.over.framing import FramedCalls
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.sorting import Positions


class OverChangesOperator(ChangingOperator):
    """Appends the results of the calls to rows that come and go: sends deletes, then inserts."""

    most = 1 << 18

    def __init__(self, over: OverPartitions) -> None:
        self._over = over
        self._schema = to_arrow_schema(over.output)
        self._input = to_arrow_schema(over.input)
        self._calls = FramedCalls(over)
        self._entries = PartitionEntries(over.input, over.keys)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        require_sortable(self._input, self._over.order, context.who)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare("rows", self._entries.layout)

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        applied = self._entries.apply(self._rows, self._entries.numbered(batch, first), batch.signs())
        self._entries.store(self._rows, applied, applied.entries)
        old, (places, arrivals) = np.arange(applied.old), applied.entries
        before = self._results(applied.rows, old, applied.codes, np.asarray(applied.rows.column(-1)))
        after = self._results(applied.rows, places, applied.codes, arrivals)
        self._replace(*differences(before, after))

    def _results(self, rows: pa.RecordBatch, places: Positions, codes: Positions, arrivals: Numbers) -> Known:
        """Return the results of the rows at some places; `arrivals` are those of these places."""
        chosen, mine, since = rows.take(pa.array(places)), codes[places], arrivals[: len(places)]
        given = pa.RecordBatch.from_arrays(chosen.columns[: len(self._input)], schema=self._input)
        order = sorting(mine, given, self._over.order, since)
        given, mine = given.take(pa.array(order)), mine[order]
        columns = [*given.columns, *self._calls.of(Partitions(mine, given, self._over.order))]
        return Known(pa.RecordBatch.from_arrays(columns, schema=self._schema), mine, since[order])
