"""The source operator for columns: reads its splits' ranges and generates their watermarks."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Protocol

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.windows import WatermarkAssignment
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.source import EndOfSplit, Split
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.watermarks import ColumnTime, WatermarkValues
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.reading import OpenSplit, SplitOperator, SplitTime


class StampedTime(SplitTime, Protocol):
    """The watermarks of a split of columns."""

    def stamp(self, batch: ColumnBatch) -> Iterator[tuple[ColumnBatch, int | None]]:
        """Yield the batch in segments, each with the watermark after it (None: it has not risen)."""


class Timeless:
    """A split without watermarks: nothing but its end says how far time is."""

    watermark = MIN_WATERMARK
    idle = False
    state = None

    def check_idle(self) -> bool:
        """Return False: the split is never idle."""
        return False

    def idle_deadline(self) -> int | None:
        """Return None: the split never becomes idle."""
        return None

    def flush(self) -> int | None:
        """Return None: no watermark is held back."""
        return None

    def stamp(self, batch: ColumnBatch) -> Iterator[tuple[ColumnBatch, int | None]]:
        """Yield the batch."""
        yield batch, None


class ColumnSourceOperator(SplitOperator[ColumnBatch, ColumnBatch, StampedTime]):
    """Emits the columns of its splits, with watermarks of each split if there is an assignment; see `SplitOperator`.

    A `program` computes the columns before the assignment looks at them.
    """

    def __init__(
        self,
        source: ColumnSource,
        assignment: WatermarkAssignment | None = None,
        program: Program | None = None,
    ) -> None:
        super().__init__(source)
        self._columns = source
        self._assignment = assignment
        self._program = program
        self._values: WatermarkValues | None = None
        self._computed: Statement | None = None

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        if self._assignment is not None:
            self._values = WatermarkValues(self._assignment, context.who)
        if self._program is not None:
            self._computed = Statement(self._program, context.who)

    def close(self) -> None:
        for statement in (self._values, self._computed):
            if statement is not None:
                statement.close()
        super().close()

    def _new_time(self, state: Any, facts: EpochFacts) -> StampedTime:
        if self._assignment is None or self._values is None:
            return Timeless()
        self._values.now = facts.processing_time
        interval = self.context.watermark_interval
        return ColumnTime(self._assignment, self._values, self.context.who, state, facts, interval)

    def _range(self, split: Split, start: int, end: int) -> Generator[ColumnBatch, None, EndOfSplit | None]:
        changes = self._columns.read_columns(split, start, end)
        while True:
            try:
                rows, kinds = next(changes)
            except StopIteration as stop:
                found: EndOfSplit | None = stop.value
                return found
            yield ColumnBatch(rows, kinds)

    def _bytes_of(self, piece: ColumnBatch) -> float:
        return float(piece.rows.nbytes) / len(piece)

    def _emit(self, split: OpenSplit[ColumnBatch, StampedTime]) -> None:
        assert split.left is not None
        batch = split.left.slice(0, ColumnBatch.MOST)
        split.left = split.left.slice(len(batch), len(split.left)) if len(batch) < len(split.left) else None
        self._count(split, len(batch))
        if self._computed is not None:
            batch = self._computed.run(batch, Times(self.processing_time))
        for part, risen in split.time.stamp(batch):
            self.output.emit(part)
            if risen is not None:
                self._update_watermark()
