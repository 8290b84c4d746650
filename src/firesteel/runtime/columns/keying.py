"""From rows to the subtasks that own their keys, a batch at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from firesteel.functions.base import RuntimeContext
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.state.arrangements.hashing import hash_columns, key_groups


class KeyColumnsEdge:
    """The functions of an exchange by columns; see `EdgeFunctions` for the contract.

    Rows with equal values in `columns` go to one subtask: the owner of the key group of their hash. Arrangements
    are sorted by the same hash, so the rows of a subtask are one range of it. Without columns all rows go to the
    first subtask.
    """

    def __init__(self, columns: tuple[str, ...], targets: int, max_parallelism: int) -> None:
        self._columns = columns
        self._targets = targets
        self._max_parallelism = max_parallelism

    def open(self, runtime_context: RuntimeContext) -> None:
        """Nothing has to be opened."""

    def direct(self, batch: ColumnBatch) -> tuple[ColumnBatch, npt.NDArray[np.int64] | None]:
        """Return the batch, and the target of each row."""
        if self._targets == 1 or not self._columns:
            return batch, None
        hashes = hash_columns([batch.rows.column(name) for name in self._columns])
        groups = key_groups(hashes, self._max_parallelism)
        return batch, groups * self._targets // self._max_parallelism

    def close(self) -> None:
        """Nothing has to be closed."""
