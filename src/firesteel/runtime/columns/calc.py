"""The operator that computes a program: filters and projections of a chain."""

from __future__ import annotations

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.program import Program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.operator import Operator, OperatorContext


class CalcOperator(Operator[ColumnBatch]):
    """Emits the program's columns of the rows that it keeps, with their kinds and in their order."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def open(self, context: OperatorContext) -> None:
        """Prepare the program."""
        super().open(context)
        self._statement = Statement(self._program, context.who)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit what is computed of a batch; nothing if no row is kept."""
        watermark = None if self.watermark == MIN_WATERMARK else self.watermark
        found = self._statement.run(batch, Times(self.processing_time, watermark))
        if len(found):
            self.output.emit(found)

    def close(self) -> None:
        """Release what was prepared."""
        self._statement.close()
        super().close()
