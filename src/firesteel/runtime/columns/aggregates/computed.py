"""Adding up by key what a program computes of rows, before the exchange, in BATCH mode.

The kernel computes the rows and adds them up in one statement over very many of them, so that neither is ever in memory
row by row.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from firesteel.common.logical_types import LogicalTypeRoot
from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.functions.columns.program import Program
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.gathering import FEW
from firesteel.runtime.columns.aggregates.operators import LocalAggregateOperator, given
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.grouped import GroupedStatement
from firesteel.runtime.columns.kernel.query import Grouping, Times
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.operator import OperatorContext

ROWS: Final = 1 << 20
"""Rows that are added up together, if they have no more bytes than `BYTES`."""

BYTES: Final = 64 << 20

_AGAIN: Final = 1 << 22
"""Rows that are passed on as they are before the next look whether their keys have become few."""

_R: Final = LogicalTypeRoot
_PLAIN: Final = frozenset(
    {
        *(_R.CHAR, _R.VARCHAR, _R.BOOLEAN, _R.DATE, _R.DECIMAL),
        *(_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT),
    }
)
"""Types whose values are equal in the kernel where they are equal here."""


class ComputedLocalAggregateOperator(LocalAggregateOperator):
    """Does what a `LocalAggregateOperator` does with the rows that a program gives; all rows are inserts.

    Where the kernel has no aggregate that gives the same, or fails, the rows are computed first.
    """

    def __init__(self, spec: GroupAggregate, program: Program) -> None:
        super().__init__(spec)
        self._program = program
        self._grouped = grouped(spec, self._form, program)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = self._passing = 0

    def open(self, context: OperatorContext) -> None:
        """Prepare the program."""
        super().open(context)
        self._statement = Statement(self._program, context.who)

    def close(self) -> None:
        """Release what was prepared."""
        self._statement.close()
        if self._grouped is not None:
            self._grouped.close()
        super().close()

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let a batch wait for others, or pass on what is computed of it."""
        assert batch.kinds is None, "BATCH mode has inserts only"
        if self._grouped is None:
            self._compute(batch.rows)
        elif self._passing > 0:
            self._passing -= len(batch)
            self._send(self._form.lift(given(self._computed(batch.rows))))
        else:
            self._waiting.append(batch.rows)
            self._rows += len(batch)
            self._bytes += batch.rows.nbytes
            if self._rows >= ROWS or self._bytes >= BYTES:
                self._add_up()

    def _flush(self) -> None:
        self._add_up()
        super()._flush()

    def _add_up(self) -> None:
        waiting, rows = self._waiting, self._rows
        self._waiting, self._rows, self._bytes = [], 0, 0
        if not waiting or self._grouped is None:
            return
        found = self._grouped.run(waiting, self._times)
        if found is None:
            self._grouped.close()
            self._grouped = None
            for part in waiting:
                self._compute(part)
            return
        if 2 * found.num_rows > rows:
            self._passing = _AGAIN
        if found.num_rows > FEW:
            self._send(self._form.of_kernel(found))
        elif found.num_rows:
            self._take(self._form.of_kernel(found))

    def _compute(self, rows: pa.RecordBatch) -> None:
        computed = self._computed(rows)
        if len(computed):
            super().process(computed, 0)

    def _computed(self, rows: pa.RecordBatch) -> ColumnBatch:
        return self._statement.run(ColumnBatch(rows), self._times)

    @property
    def _times(self) -> Times:
        return Times(self.processing_time)


def grouped(spec: GroupAggregate, form: Form, program: Program) -> GroupedStatement | None:
    """Return the statement for the rows of a program; None if the kernel has no aggregate that gives the same."""
    if form.shared or any(spec.input.fields[key].type.root not in _PLAIN for key in spec.keys):
        return None
    places = [*spec.keys]

    def named(place: int) -> str:
        if place not in places[len(spec.keys) :]:
            places.append(place)
        return f'"{places.index(place, len(spec.keys))}"'

    aggregates = [part.kernel(named) for part in form.parts]
    known = [text for text in aggregates if text is not None]
    if len(known) < len(aggregates):
        return None
    return GroupedStatement(program, places, Grouping(len(spec.keys), known))
