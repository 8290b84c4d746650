"""Operators that work on their input together, at the end of an epoch."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import DELETE, INSERT, ColumnBatch, concatenated
from firesteel.runtime.operator import Epoch, Operator, OperatorReport


class SettlingOperator(Operator[ColumnBatch]):
    """Emits what its input comes to at the end of the epoch, or before if very much of it waits.

    Contract for subclasses: `_work` works on all input that waits. A watermark is passed on after that, so that
    whatever waits for it later has what came before it.
    """

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        self._sent = self.watermark

    def announce(self) -> None:
        """Settle what follows from watermarks that were announced to this operator; then send the watermark."""
        self._settle()
        super().announce()

    def advance_watermark(self, watermark: int) -> None:
        """Advance; the watermark is sent after what comes before it."""
        self.watermark = watermark

    def advance_idle(self) -> None:
        """Send what waits, and then that there is no watermark."""
        self._settle()
        super().advance_idle()

    def finish(self) -> None:
        """Send all that waits."""
        self._settle()

    def end_epoch(self) -> OperatorReport:
        """Send all that waits."""
        self._settle()
        return OperatorReport()

    @abstractmethod
    def _work(self) -> None:
        """Work on the input that waits, if there is any."""

    def _replace(self, gone: pa.RecordBatch, fresh: pa.RecordBatch) -> None:
        """Send deletes, then inserts."""
        for kind, rows in ((DELETE, gone), (INSERT, fresh)):
            kinds = None if kind == INSERT else np.full(rows.num_rows, kind)
            for part in ColumnBatch(rows, kinds).parts():
                self.output.emit(part)

    def _settle(self) -> None:
        self._work()
        if self.watermark > self._sent:
            self._sent = self.watermark
            self.emit_watermark(self.watermark)


class GatheringOperator(SettlingOperator):
    """Lets batches wait until the end of the epoch, or until `most` rows have come, and takes them as one.

    Contract for subclasses: `_take(batch)` works on what waited, in the order in which it came.
    """

    most: ClassVar[int]

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch, in which nothing waits yet."""
        super().begin_epoch(epoch)
        self._waiting: list[ColumnBatch] = []
        self._count = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let a batch wait."""
        self._waiting.append(batch)
        self._count += len(batch)
        if self._count >= self.most:
            self._work()

    @abstractmethod
    def _take(self, batch: ColumnBatch) -> None:
        """Work on what waited."""

    def _work(self) -> None:
        waiting, self._waiting, self._count = self._waiting, [], 0
        if waiting:
            self._take(concatenated(waiting))
