"""From the accumulators of windows to the rows that come out."""

from __future__ import annotations

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import Folding
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.columns.windows.properties import window_columns


class Results:
    """Makes rows of the aggregate's output."""

    def __init__(self, aggregate: WindowAggregate, keys: Keys, folding: Folding) -> None:
        self._keys = keys
        self._folding = folding
        self._properties = aggregate.properties
        self._zone = aggregate.window.zone
        self._schema = to_arrow_schema(aggregate.output)

    def batch(self, rows: pa.RecordBatch, starts: Times, ends: Times) -> ColumnBatch:
        """Return keys, results and properties of windows; `rows` have keys and accumulators, times are local."""
        keys = self._keys.shown(rows)
        results = self._folding.results(rows)
        types = self._schema.types[len(keys) + len(results) :]
        added = window_columns(self._properties, starts, ends, types, self._zone)
        return ColumnBatch(pa.RecordBatch.from_arrays([*keys, *results, *added], schema=self._schema))
