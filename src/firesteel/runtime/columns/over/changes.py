"""OVER by values in STREAMING mode: a row gets its result at once, and another one whenever rows come before it or go.

All rows are kept. Once in an epoch, the partitions that have changed are read, and computed before and after the
changes; the rows whose results are others, or that have come or gone, are sent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import Field, RowType, TinyIntType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.sinks import Materialization
from firesteel.functions.columns.windows import OverPartitions
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.tables import KeyedEntries
from firesteel.runtime.columns.over.framing import FramedCalls
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Mask, Numbers, same_rows
from firesteel.state.arrangements.sorting import Positions

_ONLY = Field("only", TinyIntType(nullable=False))


class _Results(NamedTuple):
    """Rows with their results, the numbers of their partitions, and when they came."""

    rows: pa.RecordBatch
    codes: Positions
    arrivals: Numbers


class OverChangesOperator(ChangingOperator):
    """Appends the results of the calls to rows that come and go: sends deletes, then inserts."""

    most = 1 << 18

    def __init__(self, over: OverPartitions) -> None:
        self._over = over
        self._schema = to_arrow_schema(over.output)
        self._input = to_arrow_schema(over.input)
        self._calls = FramedCalls(over)
        fields, keys = over.input.fields, over.keys
        if not keys:  # one partition, of a column that all rows share
            fields, keys = (*fields, _ONLY), (len(fields),)
        self._entries = KeyedEntries(Materialization(RowType(fields, nullable=False), keys, ()))

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        require_sortable(self._input, self._over.order, context.who)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare("rows", self._entries.layout)

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        signs = batch.signs()
        if not self._over.keys:
            only = pa.array(np.zeros(len(batch), np.int8))
            batch = ColumnBatch(batch.rows.append_column(_ONLY.name, only))
        applied = self._entries.apply(self._rows, self._entries.numbered(batch, first), signs)
        self._entries.store(self._rows, applied, applied.entries)
        old, (places, arrivals) = np.arange(applied.old), applied.entries
        before = self._results(applied.rows, old, applied.codes, np.asarray(applied.rows.column(-1)))
        after = self._results(applied.rows, places, applied.codes, arrivals)
        self._emit(before, after)

    def _results(
        self, rows: pa.RecordBatch, places: Positions, codes: Positions, arrivals: Numbers
    ) -> _Results:
        """Return the results of the rows at some places; `arrivals` are those of these places."""
        chosen, mine, since = rows.take(pa.array(places)), codes[places], arrivals[: len(places)]
        given = pa.RecordBatch.from_arrays(chosen.columns[: len(self._input)], schema=self._input)
        order = sorting(mine, given, self._over.order, since)
        given, mine = given.take(pa.array(order)), mine[order]
        columns = [*given.columns, *self._calls.of(Partitions(mine, given, self._over.order))]
        return _Results(pa.RecordBatch.from_arrays(columns, schema=self._schema), mine, since[order])

    def _emit(self, before: _Results, after: _Results) -> None:
        """Send how the results have changed."""
        pairs = [np.concatenate(both) for both in zip(before[1:], after[1:], strict=True)]
        numbers, _ = codes_of(list(map(pa.array, pairs)))
        was, now = numbers[: len(before.codes)], numbers[len(before.codes) :]
        place = np.full(int(numbers.max(initial=-1)) + 1, -1)
        place[was] = np.arange(len(was))
        stays = np.flatnonzero(place[now] >= 0)
        same = same_rows(
            before.rows.take(pa.array(place[now[stays]])),
            after.rows.take(pa.array(stays)),
            self._schema.names,
        )
        fresh: Mask = np.ones(len(now), np.bool_)
        fresh[stays[same]] = False
        gone: Mask = np.ones(len(was), np.bool_)
        gone[place[now[stays[same]]]] = False
        self._replace(before.rows.filter(pa.array(gone)), after.rows.filter(pa.array(fresh)))
