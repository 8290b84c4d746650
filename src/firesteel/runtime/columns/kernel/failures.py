"""What an expression could not be computed of: the operator, the expression, the row and the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb
import pyarrow as pa

from firesteel.common.errors import EngineError, ExpressionError, FiresteelError, RecordError
from firesteel.common.logical_types.text import cells
from firesteel.functions.columns.program import Formula, Program, found_reason
from firesteel.runtime.columns.kernel.query import Query, Times

_MOST_OF_A_ROW: Final = 2_000


@dataclass(frozen=True)
class Trial:
    """The rows of a batch that failed, and how to compute one formula of them alone."""

    rows: pa.RecordBatch
    times: Times
    alone: Callable[[Formula], Query]

    def first_failing(self, formula: Formula) -> tuple[int, duckdb.Error] | None:
        """Return the place of the first row that a formula fails for, and its error; None if there is none."""
        query = self.alone(formula)
        found = self._error(query, 0, self.rows.num_rows)
        start, length = 0, self.rows.num_rows
        while found is not None and length > 1:
            half = length // 2
            left = self._error(query, start, half)
            if left is None:
                start, length = start + half, length - half
            else:
                found, length = left, half
        if found is not None:
            found = self._error(query, start, length) or found
        query.close()
        return None if found is None else (start, found)

    def _error(self, query: Query, start: int, length: int) -> duckdb.Error | None:
        try:
            query.run(self.rows.slice(start, length), self.times)
        except duckdb.Error as error:
            return error
        return None


def failure(
    program: Program, who: str, error: duckdb.Error, formulas: Sequence[Formula], trial: Trial
) -> FiresteelError:
    """Return the error for the first row for which one of the formulas fails.

    An error that no row has alone is one of the kernel.
    """
    for formula in formulas:
        try:
            row = trial.first_failing(formula)
        except duckdb.Error:  # it cannot even be prepared: that is what `error` is about
            continue
        if row is None:
            continue
        place, found = row
        reason = found_reason(str(found)) or _plain(str(found))
        return _of_row(formula, reason, who, _row(program, trial.rows.slice(place, 1)))
    return EngineError("cannot run a statement of the kernel", who=who, details=str(error))


def _of_row(formula: Formula, reason: str, who: str, row: str) -> RecordError:
    got, hint, pointer = f"the row {row}", _hint(formula), formula.pointer
    if pointer is None:
        return RecordError(f"cannot compute {formula.shown}: {reason}", who=who, got=got, hint=hint)
    requirement = f"cannot compute {formula.shown} of {pointer.shown}: {reason}"
    return pointer.error(ExpressionError, requirement, who=who, got=got, hint=hint)


def _hint(formula: Formula) -> str | None:
    if "CAST(" in formula.shown and "TRY_CAST(" not in formula.shown:
        return "TRY_CAST gives NULL for values that cannot be cast"
    return None


def _plain(text: str) -> str:
    """Return the first sentence of an error of DuckDB without its kind."""
    line = text.strip().splitlines()[0]
    return line.partition("Error: ")[2] or line


def _row(program: Program, rows: pa.RecordBatch) -> str:
    values = [
        f"{field.name}={cells(column, field.type, program.zone)[0]}"
        for field, column in zip(program.input.fields, rows.columns, strict=True)
    ]
    text = ", ".join(values)
    return f"({text if len(text) <= _MOST_OF_A_ROW else f'{text[:_MOST_OF_A_ROW]}...'})"
