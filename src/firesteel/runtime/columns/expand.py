"""The operator that computes several programs for each row, for GROUPING SETS.

One operator, and not one for each program: watermarks stay between the rows that they came between, so that a row is
late in all sets or in none.
"""

from __future__ import annotations

from firesteel.functions.columns.program import Program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.operator import Operator, OperatorContext


class ExpandOperator(Operator[ColumnBatch]):
    """Emits what each of the programs computes of a batch, one after another, with the rows' kinds."""

    def __init__(self, programs: tuple[Program, ...]) -> None:
        self._programs = programs

    def open(self, context: OperatorContext) -> None:
        """Prepare the programs."""
        super().open(context)
        self._statements = [Statement(program, context.who) for program in self._programs]

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the rows of all programs."""
        for statement in self._statements:
            self.output.emit(statement.run(batch))

    def close(self) -> None:
        """Release what was prepared."""
        for statement in self._statements:
            statement.close()
        super().close()
