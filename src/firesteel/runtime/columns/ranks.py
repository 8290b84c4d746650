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
from firesteel.runtime.columns.materialize.entries import Entries, groups_of
from firesteel.runtime.columns.materialize.tables import Applied
from firesteel.runtime.columns.over.differences import Known, differences
from firesteel.runtime.columns.ranked_rows import RankedRows, Ranking, first_ranked
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers, rows_at


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

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Take changes; of rows that never go, only those wait that can be shown."""
        super().process(batch if self._rank.retracts else self._worth(batch), port)

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        applied = self._rows.apply(self._rows.numbered(batch, first), batch.signs())
        arrivals = numbers(applied.rows.column(ARRIVAL))
        before, _ = self._ranked(applied, Entries(np.arange(applied.old), arrivals[: applied.old]))
        after, first_rows = self._ranked(applied, applied.entries)
        self._rows.store(applied, applied.entries if self._rank.retracts else first_rows)
        self._replace(*differences(before, after))

    def _worth(self, batch: ColumnBatch) -> ColumnBatch:
        """Return those of some inserts that can be shown beside the others."""
        keys = pa.RecordBatch.from_arrays(
            [batch.rows.column(place) for place in self._rank.keys], names=[*map(str, self._rank.keys)]
        )
        codes = (
            groups_of(keys, keys.schema.names).numbers if self._rank.keys else np.zeros(len(batch), np.int64)
        )
        first, _ = first_ranked(self._rank, codes, batch.rows, np.arange(len(batch)))
        return batch if len(first) == len(batch) else batch.take(np.sort(first))

    def _ranked(self, applied: Applied, entries: Entries) -> tuple[Known, Entries]:
        """Return those of some entries that are shown, and all whose rank is not above the last one."""
        rank, places = self._rank, entries.places
        codes = applied.codes[places]
        given = rows_at(self._ranking.reduced(applied.rows), places)
        first, ranks = first_ranked(rank, codes, given, entries.arrivals)
        shown = ranks >= rank.start
        columns = applied.rows.take(pa.array(places[first[shown]])).columns[: len(self._input)]
        if rank.shows:
            columns.append(pa.array(ranks[shown], pa.int64()))
        arrivals = entries.arrivals[first]
        known = Known(
            pa.RecordBatch.from_arrays(columns, schema=self._schema), codes[first[shown]], arrivals[shown]
        )
        return known, Entries(places[first], arrivals)
