"""The first rows of each partition of a table that changes: Top-N, and deduplication.

If rows never go, those alone are kept that can be shown. Source: Flink's AppendOnlyTopNFunction,
RetractableTopNFunction and deduplicate functions.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.ranks import Rank
from firesteel.runtime.columns.arrivals import ARRIVAL
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.entries import Entries
from firesteel.runtime.columns.materialize.tables import Applied
from firesteel.runtime.columns.over.differences import Known, differences
from firesteel.runtime.columns.ranked_rows import RankedRows, Ranking, last_ranks
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers


class RankOperator(ChangingOperator):
    """Emits how the rows of some ranks change, once in an epoch: deletes, then inserts."""

    most = 1 << 18
    slack: ClassVar[int] = 1 << 9
    """How many rows of a partition are read for each of its changes without need, so that others are read seldom."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        self._input = to_arrow_schema(rank.row)
        self._schema = to_arrow_schema(rank.output)
        self._ranking = Ranking(rank)
        self._rows = RankedRows(rank, self._ranking, self.slack)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of the rows."""
        super().open(context)
        require_sortable(self._input, self._rank.order, context.who)
        assert context.arrangements is not None
        self._rows.declare(context.arrangements)

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        applied = self._rows.apply(self._rows.numbered(batch, first), batch.signs())
        arrivals = numbers(applied.rows.column(ARRIVAL))
        before, _ = self._ranked(applied, Entries(np.arange(applied.old), arrivals[: applied.old]))
        after, first_rows = self._ranked(applied, applied.entries)
        self._rows.store(applied, applied.entries if self._rank.retracts else first_rows)
        self._replace(*differences(before, after))

    def _ranked(self, applied: Applied, entries: Entries) -> tuple[Known, Entries]:
        """Return those of some entries that are shown, and all whose rank is not above the last one."""
        rank, places = self._rank, entries.places
        codes, given = applied.codes[places], applied.rows.take(pa.array(places))
        order, ranks = self._ranking.of(given, codes, entries.arrivals)
        first = np.flatnonzero(ranks <= last_ranks(rank, given)[order])
        shown = first[ranks[first] >= rank.start]
        places_shown = pa.array(order[shown])
        columns = [column.take(places_shown) for column in given.columns[: len(self._input)]]
        if rank.shows:
            columns.append(pa.array(ranks[shown], pa.int64()))
        arrivals = entries.arrivals[order]
        known = Known(
            pa.RecordBatch.from_arrays(columns, schema=self._schema), codes[order[shown]], arrivals[shown]
        )
        return known, Entries(places[order[first]], arrivals[first])
