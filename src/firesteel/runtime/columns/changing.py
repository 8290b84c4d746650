"""Operators that work on the changes of an epoch together."""

from __future__ import annotations

from abc import abstractmethod

from firesteel.runtime.columns.arrivals import first_number
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.settling import GatheringOperator
from firesteel.runtime.operator import Epoch


class ChangingOperator(GatheringOperator):
    """Gathers changes and numbers them.

    Contract for subclasses: `_apply(batch, first)` takes changes, which are numbered from `first` on, after all earlier
    ones.
    """

    def begin_epoch(self, epoch: Epoch) -> None:
        """Number the epoch's changes after all earlier ones."""
        super().begin_epoch(epoch)
        self._next = first_number(epoch)

    @abstractmethod
    def _apply(self, batch: ColumnBatch, first: int) -> None:
        """Take changes into the state."""

    def _take(self, batch: ColumnBatch) -> None:
        self._apply(batch, self._next)
        self._next += len(batch)
