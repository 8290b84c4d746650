"""The first rows of each partition of a window: window Top-N and deduplication.

Of the rows that come together only those wait that can be among the first. Source: Flink's RowTimeWindowTopN and
RowTimeWindowDeduplicate operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.ranks import WindowRank
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.ranked_rows import first_ranked
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.columns.windows.closing import ClosingOperator, WindowRows
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.sorting import Positions


class _First(NamedTuple):
    """The places of rows whose rank is not above the last one, their ranks, and all rows as they came."""

    places: Positions
    ranks: Numbers
    rows: pa.RecordBatch


class WindowRankOperator(ClosingOperator):
    """Sends the first rows of each partition of a window when it is over."""

    def __init__(self, spec: WindowRank) -> None:
        super().__init__(spec.zone)
        self._spec = spec
        self._rank = spec.rank
        self._input = to_arrow_schema(spec.rank.row)
        self._schema = to_arrow_schema(spec.rank.output)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        require_sortable(self._input, self._rank.order, context.who)
        super().open(context)

    def waiting(self, context: OperatorContext) -> Iterator[WindowRows]:
        """Yield where the rows wait."""
        yield WindowRows(self._input, self._rank.keys, self._spec.end, context, "rows")

    def worth(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that are among the first of those that came together."""
        first = self._first(rows)
        return rows if len(first.places) == rows.num_rows else rows.take(pa.array(first.places))

    def fire(self, due: list[pa.RecordBatch | None]) -> None:
        """Send the first rows of windows that are over."""
        (rows,) = due
        assert rows is not None
        first = self._first(rows)
        shown = first.ranks >= self._rank.start
        places, ranks = first.places[shown], first.ranks[shown]
        columns = first.rows.take(pa.array(places)).columns
        if self._rank.shows:
            columns = [*columns, pa.array(ranks, pa.int64())]
        batch = ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        for part in batch.parts():
            self.output.emit(part)

    def _first(self, waiting: pa.RecordBatch) -> _First:
        (kept,) = self._inputs
        rows = kept.as_input(waiting)
        spec = self._spec
        codes, _ = codes_of([rows.column(place) for place in (spec.end, spec.start, *self._rank.keys)])
        return _First(*first_ranked(self._rank, codes, rows, kept.arrivals(waiting)), rows)
