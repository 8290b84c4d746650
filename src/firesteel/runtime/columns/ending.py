"""Operators whose results are known when their input has ended."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Operator


class EndingOperator(Operator[ColumnBatch]):
    """Emits its results when the input has ended, in BATCH mode.

    The watermark follows them: no later operator may take them for late.
    """

    def announce(self) -> None:
        """Send no watermark yet."""

    def advance_watermark(self, watermark: int) -> None:
        """Advance; `finish` sends the watermark."""
        self.watermark = watermark

    def finish(self) -> None:
        """Emit the results, then the watermark."""
        for result in self.results():
            for part in result.parts():
                self.output.emit(part)
        self.emit_watermark(self.watermark)

    @abstractmethod
    def results(self) -> Iterator[ColumnBatch]:
        """Yield the results in batches of any size, now that all input has come."""
