"""The vector search: left rows meet the rows of a table whose vectors are most similar to theirs when they come.

All rows of the table are kept, and read again as its cache says. Source: Flink's VectorSearchRunner.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.lookups import FullCache, ScannableLookup
from firesteel.functions.columns.vectors import VectorSearch
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.lookups.finding import all_rows, next_reload
from firesteel.runtime.columns.lookups.nearest import NearestRows
from firesteel.runtime.columns.lookups.pairing import joined, with_others
from firesteel.runtime.columns.settling import GatheringOperator
from firesteel.runtime.operator import OperatorContext


class VectorSearchOperator(GatheringOperator):
    """Emits left rows with the rows that are nearest to them, once in an epoch or after many rows."""

    most = 1 << 12

    def __init__(self, spec: VectorSearch) -> None:
        self._spec = spec
        self._schema = to_arrow_schema(spec.join.output)
        right = to_arrow_schema(spec.join.right)
        self._right = pa.schema([*right][:-1])
        self._given = self._right if spec.program is None else to_arrow_schema(spec.program.input)

    def open(self, context: OperatorContext) -> None:
        """Connect to the table."""
        super().open(context)
        spec = self._spec
        self._who = context.who
        self._lookup = spec.table.lookup
        self._lookup.open()
        self._statement = None if spec.program is None else Statement(spec.program, context.who)
        self._due: int | None = 0

    def close(self) -> None:
        """Disconnect."""
        self._lookup.close()
        if self._statement is not None:
            self._statement.close()
        super().close()

    def _take(self, batch: ColumnBatch) -> None:
        """Emit left rows with what is found for them, in their order."""
        found = self._nearest().find(batch.rows.column(self._spec.query), self._spec.most)
        here, there = found.keys, np.arange(len(found.keys))
        if self._spec.join.kind == "LEFT":
            here, there = with_others(here, there, len(batch))
        for part in joined(batch, here, there, found.rows, self._schema):
            self.output.emit(part)

    def _nearest(self) -> NearestRows:
        spec, now = self._spec, self.processing_time
        if self._due is not None and now >= self._due:
            self._known = NearestRows(self._all_rows(), spec.searched, spec.metric, self._who)
            assert isinstance(spec.table.cache, FullCache)
            self._due = next_reload(spec.table.cache, now)
        return self._known

    def _all_rows(self) -> pa.RecordBatch:
        """Return the right columns but the score of all rows that the table has now."""
        assert isinstance(self._lookup, ScannableLookup)
        rows = all_rows(self._lookup, self._given)
        if self._statement is not None:
            rows = self._statement.run(ColumnBatch(rows)).rows
        return pa.RecordBatch.from_arrays(rows.columns, schema=self._right)
