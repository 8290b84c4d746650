"""The conditions of pattern variables, asked of the rows of a batch by their places.

What looks at the current row alone is a column of the batch. What looks at earlier rows of a match walks its links back
from the last one, no further than it must; aggregates, and FIRST, are kept with each link, so that a row more costs one
step however long the match is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.row_patterns import RowCondition, RowFormula, TotalOf, ValueAt
from firesteel.functions.patterns.conditions import ConditionContext, IterativeCondition, SimpleCondition
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.matching.totals import Total, total_of
from firesteel.runtime.columns.matching.values import Events
from firesteel.runtime.patterns.contexts import MatchContext

Value = Callable[[MatchContext, int], Any]
"""Gives a value of other rows, of the context of a match and the place of the current row."""

Test = Callable[[int, MatchContext], Any]
"""Says whether a part of a condition holds for the row at a place."""


def pattern_condition(condition: RowCondition, events: Events, who: str) -> IterativeCondition:
    """Return a condition over places in `events`."""
    if not condition.formulas:
        return _OfColumn(events, condition.column)
    tests = [_test(formula, condition.variable, events, who) for formula in condition.formulas]
    return _OfRows(events, condition.column, tests)


class _OfColumn(SimpleCondition):
    """Whether a column of the batch is TRUE."""

    def __init__(self, events: Events, column: int | None) -> None:
        assert column is not None
        self._columns = events.columns
        self._column = column

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> Any:
        return self._columns[self._column][value]

    def filter_all(self, values: Sequence[Any]) -> Sequence[Any]:
        column = self._columns[self._column]
        return [column[value] for value in values]


class _OfRows(IterativeCondition):
    """Whether a column of the batch is TRUE, if there is one, and then all tests hold."""

    def __init__(self, events: Events, column: int | None, tests: Sequence[Test]) -> None:
        self._columns = events.columns
        self._column = column
        self._tests = tests

    def filter(self, value: Any, ctx: ConditionContext) -> Any:
        assert isinstance(ctx, MatchContext)
        if self._column is not None and not self._columns[self._column][value]:
            return False
        return all(test(value, ctx) for test in self._tests)


def _test(formula: RowFormula, variable: str, events: Events, who: str) -> Test:
    values = [_value(value, variable, events) for value in formula.values]
    if isinstance(formula.code, Program):
        return _InKernel(formula.code, formula.currents, values, events, who)
    names = {"C": events.columns, "V": values, "Decimal": Decimal}
    test: Test = eval(compile(f"lambda p, m: {formula.code}", "<condition>", "eval"), names)
    return test


class _InKernel:
    """A part of a condition that the kernel computes, of one row."""

    def __init__(
        self, program: Program, currents: Sequence[int], values: Sequence[Value], events: Events, who: str
    ) -> None:
        self._statement = Statement(program, who)
        self._schema = to_arrow_schema(program.input)
        self._currents = currents
        self._values = values
        self._columns = events.columns

    def __call__(self, place: int, context: MatchContext) -> Any:
        row = [self._columns[column][place] for column in self._currents]
        row += [value(context, place) for value in self._values]
        columns = [pa.array([value], kind) for value, kind in zip(row, self._schema.types, strict=True)]
        batch = ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        return self._statement.run(batch).rows.column(0)[0].as_py()


def _value(value: ValueAt | TotalOf, variable: str, events: Events) -> Value:
    """Return what gives a value; the current row is one of `variable`."""
    names = frozenset(value.rows.variables) or None
    included = names is None or variable in names
    if isinstance(value, ValueAt) and not value.first:
        return _last(value, names, value.offset - included)
    return _Totalled(total_of(value), names, included, events)


def _last(value: ValueAt, names: frozenset[str] | None, offset: int) -> Value:
    column = value.column

    def found(context: MatchContext, _: int) -> Any:
        left = offset
        matches = context.matches
        assert matches is not None
        for link in matches.before(context.link):
            if names is None or link.name in names:
                if not left:
                    return matches.value(link.event)[column]
                left -= 1
        return None

    return found


class _Totalled:
    """An aggregate over rows of a match and, if `included`, the current row."""

    def __init__(self, total: Total, names: frozenset[str] | None, included: bool, events: Events) -> None:
        self._total = total
        self._names = names
        self._included = included
        self._events = events

    def __call__(self, context: MatchContext, place: int) -> Any:
        total = self._total
        state = self._upto(context)
        if self._included:
            state = total.add(state, self._events.kept_at(place))
        return total.result(state)

    def _upto(self, context: MatchContext) -> Any:
        """Return the total of the rows that the match has, and leave it with its links."""
        matches, names, total = context.matches, self._names, self._total
        assert matches is not None
        state, later = total.empty, []
        for link in matches.before(context.link):
            if link.totals is not None and self in link.totals:
                state = link.totals[self]
                break
            later.append(link)
        for link in reversed(later):
            if names is None or link.name in names:
                state = total.add(state, matches.value(link.event))
            if link.totals is None:
                link.totals = {}
            link.totals[self] = state
        return state
