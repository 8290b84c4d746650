"""Window table functions TUMBLE, HOP and CUMULATE without an aggregate: each row once for each of its windows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.columns.windows import WindowTable
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import times_of
from firesteel.runtime.columns.windows.properties import window_columns
from firesteel.runtime.columns.windows.slices import Slicing
from firesteel.runtime.operator import Operator


class WindowTableOperator(Operator[ColumnBatch]):
    """Appends window_start, window_end and window_time, and drops no row for being late, as in Flink."""

    def __init__(self, table: WindowTable) -> None:
        self._window = table.window
        self._slicing = Slicing(table.window.shape)
        self._schema = to_arrow_schema(table.output)

    def process(self, batch: ColumnBatch, port: int) -> None:
        times = times_of(batch, self._window, self.processing_time, self.context.who)
        places, ends = self._slicing.windows(self._slicing.ends(times), MIN_WATERMARK, MAX_WATERMARK)
        if len(places) != len(batch) or not np.array_equal(places, np.arange(len(batch))):
            batch = batch.take(places)
        starts = self._slicing.window_starts(ends)
        added = window_columns(
            ("start", "end", "time"), starts, ends, self._schema.types[-3:], self._window.zone
        )
        rows = pa.RecordBatch.from_arrays([*batch.rows.columns, *added], schema=self._schema)
        self.output.emit(ColumnBatch(rows, batch.kinds))
