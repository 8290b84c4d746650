"""The old rows of updates for receivers that find rows by their key."""

from __future__ import annotations

import numpy as np

from firesteel.runtime.columns.batch import DELETE, UPDATE_BEFORE, ColumnBatch
from firesteel.runtime.operator import Operator


class UpdateBeforeOperator(Operator[ColumnBatch]):
    """Leaves out the old rows of updates, or with `as_delete` makes deletes of them.

    Leave them out only where the new row always follows; a delete is right where it may have been filtered out.
    """

    def __init__(self, *, as_delete: bool) -> None:
        self._as_delete = as_delete

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Pass on the batch without old rows."""
        if batch.kinds is None or not (old := batch.kinds == UPDATE_BEFORE).any():
            self.output.emit(batch)
        elif self._as_delete:
            self.output.emit(ColumnBatch(batch.rows, np.where(old, DELETE, batch.kinds)))
        else:
            self.output.emit(batch.take(np.flatnonzero(~old)))
