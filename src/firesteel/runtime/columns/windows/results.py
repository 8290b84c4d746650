"""From the results of windows to the rows that come out."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.properties import window_columns


class Results:
    """Makes rows of the aggregate's output."""

    def __init__(self, aggregate: WindowAggregate) -> None:
        self._properties = aggregate.properties
        self._zone = aggregate.window.zone
        self._schema = to_arrow_schema(aggregate.output)

    def batch(
        self, keys: Sequence[pa.Array], results: Sequence[pa.Array], starts: Times, ends: Times
    ) -> ColumnBatch:
        """Return keys, results and properties of windows, whose starts and ends are local times."""
        types = self._schema.types[len(keys) + len(results) :]
        added = window_columns(self._properties, starts, ends, types, self._zone)
        return ColumnBatch(pa.RecordBatch.from_arrays([*keys, *results, *added], schema=self._schema))
