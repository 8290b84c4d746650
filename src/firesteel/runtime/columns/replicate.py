"""The operator that repeats rows, for INTERSECT ALL and EXCEPT ALL."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import DELETE, INSERT, ColumnBatch
from firesteel.runtime.operator import Operator
from firesteel.state.arrangements.columns import numbers


class ReplicateOperator(Operator[ColumnBatch]):
    """Emits each row as often as its first column (64-bit, not NULL) says, without that column.

    An update whose old row is there another number of times than its new one is a delete and an insert.
    """

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the rows of a batch."""
        times = numbers(batch.rows.column(0))
        places = np.repeat(np.arange(len(batch)), times)
        if not len(places):
            return
        kinds = None if batch.kinds is None else np.where(batch.signs() > 0, INSERT, DELETE)[places]
        others = batch.rows.select(range(1, batch.rows.num_columns))
        for part in ColumnBatch(others.take(pa.array(places)), kinds).parts():
            self.output.emit(part)
