"""A program over batches: what DuckDB has to compute of it, and what is there already.

Contract: columns that a program only passes on are the input's own buffers. DuckDB sees the columns that the texts
name, and with a condition their places, by which kinds and passed columns follow their rows. A program may have careful
texts for the case that a number overflows; once they were needed, they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import duckdb
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.program import Formula, Program
from firesteel.runtime.columns.batch import ColumnBatch, empty
from firesteel.runtime.columns.kernel.connection import LOCK
from firesteel.runtime.columns.kernel.failures import Trial, failure
from firesteel.runtime.columns.kernel.forms import converted
from firesteel.runtime.columns.kernel.query import NO_TIMES, Query, Times
from firesteel.runtime.columns.kernel.wholes import whole_column


class Statement:
    """A program that is ready to run; `who` names the operator in errors.

    Without a condition, arithmetic of whole numbers is computed outside of the kernel (see `wholes`).

    >>> from firesteel.common.logical_types import BigIntType, BooleanType, RowType
    >>> row = RowType.of({"n": BigIntType()}, nullable=False)
    >>> more, large = Formula('"0" + 1', "n + 1", BigIntType()), Formula('"0" > 1', "n > 1", BooleanType())
    >>> statement = Statement(Program(row, row, (more,), large), "calc")
    >>> statement.run(ColumnBatch(pa.record_batch({"n": [1, 2, 3]}))).rows["n"].to_pylist()
    [3, 4]
    """

    def __init__(self, program: Program, who: str) -> None:
        self._program = program
        self._who = who
        self._given = to_arrow_schema(program.input)
        self._schema = to_arrow_schema(program.output)
        self._computed = [formula for formula in program.columns if formula.column is None]
        self._wholes = [formula.whole for formula in self._computed]
        self._hard = [formula for formula in self._computed if formula.whole is None]
        self._queries: dict[tuple[bool, int], Query] = {}
        self._careful = False

    def run(self, batch: ColumnBatch, times: Times = NO_TIMES) -> ColumnBatch:
        """Return the program's columns of the rows that it keeps; `times` are those that functions can ask for.

        Raises RecordError, with the expression and the row, if an expression cannot be computed.
        """
        if self._program.condition is None and not self._computed:
            return ColumnBatch(self._arranged([], batch.rows.column), batch.kinds)
        if self._program.condition is None and len(batch):
            return ColumnBatch(self._arranged(self._all(batch.rows, times), batch.rows.column), batch.kinds)
        found = self._found(batch.rows, times, self._computed) if len(batch) else None
        if found is None:
            return ColumnBatch(empty(self._schema), None if batch.kinds is None else batch.kinds[:0])
        *columns, places = found.columns
        if found.num_rows == len(batch):
            return ColumnBatch(self._arranged(columns, batch.rows.column), batch.kinds)
        kinds = None if batch.kinds is None else batch.kinds[places.to_numpy()]
        return ColumnBatch(
            self._arranged(columns, lambda column: batch.rows.column(column).take(places)), kinds
        )

    def close(self) -> None:
        """Release what is prepared."""
        with LOCK:
            for query in self._queries.values():
                query.close()
            self._queries.clear()

    def _all(self, rows: pa.RecordBatch, times: Times) -> list[pa.Array]:
        """Return what is computed of all rows: arithmetic without the kernel, if the values allow it."""
        wholes = [None if whole is None else whole_column(whole, rows) for whole in self._wholes]
        easy = len(self._wholes) - len(self._hard)
        if not easy or sum(column is not None for column in wholes) < easy:
            return self._columns(rows, times, self._computed)
        hard = iter(self._columns(rows, times, self._hard) if self._hard else ())
        return [next(hard) if column is None else column for column in wholes]

    def _columns(self, rows: pa.RecordBatch, times: Times, formulas: Sequence[Formula]) -> list[pa.Array]:
        found = self._found(rows, times, formulas)
        assert found is not None, "each row gives a row if there is no condition"
        columns: list[pa.Array] = found.columns
        return columns

    def _found(
        self, rows: pa.RecordBatch, times: Times, formulas: Sequence[Formula]
    ) -> pa.RecordBatch | None:
        with LOCK:
            try:
                return self._query(formulas).run(rows, times)
            except duckdb.Error as error:
                if self._careful or all(formula.careful is None for formula in self._formulas()):
                    raise self._failure(rows, times, error) from None
                self._careful = True
                return self._found(rows, times, formulas)

    def _formulas(self) -> Iterable[Formula]:
        """Yield what the kernel computes, the condition first."""
        if self._program.condition is not None:
            yield self._program.condition
        yield from self._computed

    def _query(self, formulas: Sequence[Formula]) -> Query:
        kind = self._careful, len(formulas)
        found = self._queries.get(kind)
        if found is None:
            condition = self._program.condition
            found = self._queries[kind] = Query(
                self._given,
                [self._text(formula) for formula in formulas],
                None if condition is None else self._text(condition),
                self._program.functions,
            )
        return found

    def _text(self, formula: Formula) -> str:
        return formula.careful if self._careful and formula.careful is not None else formula.text

    def _failure(self, rows: pa.RecordBatch, times: Times, error: duckdb.Error) -> Exception:
        fails = Trial(rows, times, self._alone)
        return failure(self._program, self._who, error, list(self._formulas()), fails)

    def _alone(self, formula: Formula) -> Query:
        return Query(self._given, [formula.careful or formula.text], None, self._program.functions)

    def _arranged(self, computed: Iterable[pa.Array], passed: Callable[[int], pa.Array]) -> pa.RecordBatch:
        """Return the output's rows of the computed columns in their order, and of those that are passed on."""
        rest = iter(computed)
        columns = [
            converted(next(rest) if formula.column is None else passed(formula.column), field.type)
            for formula, field in zip(self._program.columns, self._schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)
