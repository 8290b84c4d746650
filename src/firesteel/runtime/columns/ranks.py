"""The first rows of each partition of a table that changes: Top-N, and deduplication.

If rows never go, those alone are kept that can be shown; otherwise all are, and the partitions that change are read.
Source: Flink's AppendOnlyTopNFunction, RetractableTopNFunction and deduplicate functions.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.ranks import Rank
from firesteel.runtime.columns.arrivals import ARRIVAL
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.entries import Entries
from firesteel.runtime.columns.materialize.tables import Applied, PartitionEntries
from firesteel.runtime.columns.over.differences import Known, differences
from firesteel.runtime.columns.over.partitions import RANKS, Partitions, sorting
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Numbers, numbers
from firesteel.state.arrangements.sorting import Positions


class RankOperator(ChangingOperator):
    """Emits how the rows of some ranks change, once in an epoch: deletes, then inserts."""

    most = 1 << 18

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        self._input = to_arrow_schema(rank.row)
        self._schema = to_arrow_schema(rank.output)
        self._entries = PartitionEntries(rank.row, rank.keys)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        require_sortable(self._input, self._rank.order, context.who)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare("rows", self._entries.layout)

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        applied = self._entries.apply(self._rows, self._entries.numbered(batch, first), batch.signs())
        arrivals = numbers(applied.rows.column(ARRIVAL))
        before, _ = self._ranked(applied, Entries(np.arange(applied.old), arrivals[: applied.old]))
        after, first_rows = self._ranked(applied, applied.entries)
        self._entries.store(self._rows, applied, applied.entries if self._rank.retracts else first_rows)
        self._replace(*differences(before, after))

    def _ranked(self, applied: Applied, entries: Entries) -> tuple[Known, Entries]:
        """Return those of some entries that are shown, and all whose rank is not above the last one."""
        rank, places = self._rank, entries.places
        codes, chosen = applied.codes[places], applied.rows.take(pa.array(places))
        given = pa.RecordBatch.from_arrays(chosen.columns[: len(self._input)], schema=self._input)
        order, ranks = ranked(rank, codes, given, entries.arrivals)
        given, codes = given.take(pa.array(order)), codes[order]
        first = np.flatnonzero(ranks <= rank.end)
        shown = first[ranks[first] >= rank.start]
        columns = [column.take(pa.array(shown)) for column in given.columns]
        if rank.shows:
            columns.append(pa.array(ranks[shown], pa.int64()))
        arrivals = entries.arrivals[order]
        known = Known(pa.RecordBatch.from_arrays(columns, schema=self._schema), codes[shown], arrivals[shown])
        return known, Entries(places[order[first]], arrivals[first])


def ranked(
    rank: Rank, codes: Positions, rows: pa.RecordBatch, arrivals: Numbers
) -> tuple[Positions, Numbers]:
    """Return the order of rows by partition and rank, and the rank of each in that order.

    `codes` are the numbers of the partitions, `arrivals` tell in which order the rows came.
    """
    order = sorting(codes, rows, rank.order, -arrivals if rank.latest else arrivals)
    partitions = Partitions(codes[order], rows.take(pa.array(order)), rank.order)
    return order, np.asarray(RANKS[rank.function](partitions))
