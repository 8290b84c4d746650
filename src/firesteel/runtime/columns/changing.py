"""Operators that work on the changes of an epoch together."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from firesteel.runtime.columns.arrivals import first_number
from firesteel.runtime.columns.batch import ColumnBatch, concatenated
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.operator import Epoch


class ChangingOperator(SettlingOperator):
    """Lets changes wait until the end of the epoch, or until `most` of them have come.

    Contract for subclasses: `_apply(batch, first)` takes changes, which are numbered from `first` on, after all earlier
    ones.
    """

    most: ClassVar[int]

    def begin_epoch(self, epoch: Epoch) -> None:
        """Number the epoch's changes after all earlier ones."""
        super().begin_epoch(epoch)
        self._next = first_number(epoch)
        self._waiting: list[ColumnBatch] = []
        self._count = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Take changes."""
        self._waiting.append(batch)
        self._count += len(batch)
        if self._count >= self.most:
            self._work()

    @abstractmethod
    def _apply(self, batch: ColumnBatch, first: int) -> None:
        """Take changes into the state."""

    def _work(self) -> None:
        if self._waiting:
            batch = concatenated(self._waiting)
            self._waiting, self._count = [], 0
            self._apply(batch, self._next)
            self._next += len(batch)
