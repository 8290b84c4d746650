"""A program over batches whose rows the kernel adds up by key in the same statement."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from firesteel.common.logical_types import DecimalType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.program import Program
from firesteel.runtime.columns.kernel.connection import LOCK
from firesteel.runtime.columns.kernel.query import Grouping, Query, Times


class GroupedStatement:
    """Computes aggregates of a program's rows; `columns` are those of its columns that `grouping` is about, in order.

    >>> from firesteel.common.logical_types import BigIntType, RowType
    >>> from firesteel.functions.columns.program import Formula
    >>> row = RowType.of({"n": BigIntType()}, nullable=False)
    >>> rest = Formula('"0" % 2', "n % 2", BigIntType())
    >>> statement = GroupedStatement(Program(row, row, (rest,)), [0], Grouping(1, ["count(*)"]))
    >>> found = statement.run([pa.record_batch({"n": [1, 2, 3]}), pa.record_batch({"n": [5]})], Times())
    >>> sorted(zip(*found.to_pydict().values()))
    [(0, 1), (1, 3)]
    """

    def __init__(self, program: Program, columns: Sequence[int], grouping: Grouping) -> None:
        self._program = program
        self._texts = [_text(program, place) for place in columns]
        self._grouping = grouping
        self._query: Query | None = None

    def run(self, parts: Sequence[pa.RecordBatch], times: Times) -> pa.RecordBatch | None:
        """Return keys and aggregates of the rows of some batches; None if the kernel cannot compute them.

        Then the rows must be computed one after the other, which says why, or by the careful texts.
        """
        with LOCK:
            try:
                found = self._prepared().run_all(parts, times)
            except duckdb.Error:
                return None
        return pa.RecordBatch.from_pydict({}) if found is None else found

    def close(self) -> None:
        """Release what is prepared."""
        with LOCK:
            if self._query is not None:
                self._query.close()
                self._query = None

    def _prepared(self) -> Query:
        if self._query is None:
            program = self._program
            condition = None if program.condition is None else program.condition.text
            given = to_arrow_schema(program.input)
            self._query = Query(given, self._texts, condition, program.functions, self._grouping)
        return self._query


def _text(program: Program, place: int) -> str:
    """Return what computes a column, with the digits of its type."""
    formula, kind = program.columns[place], program.output.fields[place].type
    if isinstance(kind, DecimalType):
        return f"CAST({formula.text} AS DECIMAL({kind.precision}, {kind.scale}))"
    return formula.text
