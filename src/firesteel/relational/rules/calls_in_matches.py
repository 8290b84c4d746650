"""Calls of the user's functions in MATCH_RECOGNIZE, computed of the rows that it reads, or of those that it gives.

    MATCH_RECOGNIZE (MEASURES f(A.x, B.y) AS m ... DEFINE A AS g(A.x) > 1)
    =>  Project(f($m0, $m1) AS m) over MATCH_RECOGNIZE (MEASURES A.x AS $m0, B.y AS $m1 ... DEFINE A AS A.f3 > 1)
        over Project(g(x) AS f3)

What a condition calls is a function of columns of one row, and so is what an aggregate calls: it is computed of each
row before. If there is no such row, as for ``g(LAST(A.x, 1))`` of the first one, it is that of NULLs. Measures call
functions of what a match has measured. Flink refuses Python's functions here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from firesteel.common.logical_types import Field, RowType
from firesteel.functions.columns.row_patterns import RowsOf
from firesteel.relational.expressions import Expression, InputRef, Literal, UserCall, rewritten
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import different_names
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.row_patterns import MatchTime, RowsTotal, RowValue
from firesteel.relational.rules.computed_calls import Computed, refused
from firesteel.relational.rules.substitution import calls_user, refs

_Row = tuple[RowsOf, int, bool]
_SEVERAL: Final = "DEFINE of values of several rows"


def calls_in(node: MatchRecognize) -> bool:
    """Return whether the node calls functions of the user's."""
    return any(map(calls_user, (*node.measures, *_conditions(node))))


def with_calls_around(node: MatchRecognize) -> LogicalNode:
    """Return the same without calls in the node: below it they are computed, above it there is a projection with them.

    Raises UnsupportedError for a condition that calls a function of values of several rows.
    """
    width = len(node.shown)
    made = _over_computed(node)
    extra = len(made.shown) - width
    lifted = _Lifted(made)
    values = [lifted.of(measure) for measure in made.measures]
    if not extra and not lifted.measures:
        return made
    given = lifted.node()
    shown = refs(given.row, range(width))
    return Project(given, (*shown, *values), tuple(node.row.field_names), place=node.place)


def _conditions(node: MatchRecognize) -> Iterator[Expression]:
    return (one.condition for one in node.definitions)


# Below: functions of the columns of a row


def _over_computed(node: MatchRecognize) -> MatchRecognize:
    """Return the node over its rows with what conditions and aggregates call of them."""
    calls: list[Expression] = []
    rows = _OfRows(node, calls)
    for condition in _conditions(node):
        rows.condition(condition)
    for measure in node.measures:
        rows.measure(measure)
    computed = Computed(node.input, calls)
    if computed.node is node.input:
        return node
    found = _OfRows(node, [], iter(computed.values))
    definitions = tuple(replace(one, condition=found.condition(one.condition)) for one in node.definitions)
    measures = tuple(map(found.measure, node.measures))
    more: tuple[Field, ...] = ()
    if node.pattern.all_rows:
        more = computed.node.row.fields[len(node.input.row.fields) :]
    width = len(node.shown)
    fields = (*node.type.fields[:width], *more, *node.type.fields[width:])
    return replace(
        node,
        input=computed.node,
        definitions=definitions,
        measures=measures,
        type=RowType(_with_names(fields), nullable=False),
    )


class _OfRows:
    """Finds calls of the columns of a row, and, told their `results`, puts these in their place: both in one order."""

    def __init__(
        self, node: MatchRecognize, calls: list[Expression], results: Iterator[Expression] | None = None
    ) -> None:
        self._calls = calls
        self._results = results
        time = node.order[0].index
        self._time = InputRef(node.input.row.fields[time].type, time)

    def condition(self, value: Expression) -> Expression:
        """Return a part of a condition without calls."""
        if not calls_user(value):
            return value
        if isinstance(value, UserCall):
            return self._called(value)
        return value.with_operands(tuple(map(self.condition, value.operands)))

    def measure(self, value: Expression) -> Expression:
        """Return a part of a measure without calls in aggregates."""
        if not calls_user(value):
            return value
        if isinstance(value, RowsTotal):
            return self.condition(value)
        return value.with_operands(tuple(map(self.measure, value.operands)))

    def _called(self, call: UserCall) -> Expression:
        leaves = [*_leaves(call)]
        rows = {_row_of(leaf) for leaf in leaves}
        if len(rows) > 1 or any(isinstance(leaf, RowsTotal | MatchTime) for leaf in leaves):
            raise refused(call, _SEVERAL)
        row = next(iter(rows), None)
        if row is None:
            return self._result(call)
        there = RowValue(call.type.copy(True), self._result(rewritten(call, _column)), *row)
        nothing = self._result(rewritten(call, _null))
        is_there = resolve("IS NOT NULL", (RowValue(self._time.type.copy(True), self._time, *row),))
        return resolve("CASE", (is_there, there, nothing))

    def _result(self, call: Expression) -> Expression:
        """Return the column of a call of columns."""
        if self._results is not None:
            return next(self._results)
        self._calls.append(call)
        return call


def _leaves(value: Expression) -> Iterator[Expression]:
    """Yield what an expression reads of rows."""
    if isinstance(value, InputRef | RowValue | RowsTotal | MatchTime):
        yield value
    else:
        for operand in value.operands:
            yield from _leaves(operand)


def _row_of(leaf: Expression) -> _Row | None:
    """Return which row a value is of; None is the current one."""
    return (leaf.rows, leaf.offset, leaf.first) if isinstance(leaf, RowValue) else None


def _column(part: Expression) -> Expression:
    return part.column if isinstance(part, RowValue) else part


def _null(part: Expression) -> Expression:
    return Literal(part.type.copy(True), None) if isinstance(part, RowValue) else part


# Above: functions of what a match has measured


class _Lifted:
    """Measures as expressions over a node that measures what they call functions of."""

    def __init__(self, node: MatchRecognize) -> None:
        self._node = node
        self._width = len(node.shown)
        self.measures: list[Expression] = []

    def of(self, value: Expression) -> Expression:
        """Return a part of a measure over the columns of the node."""
        if calls_user(value):
            return value.with_operands(tuple(map(self.of, value.operands)))
        if isinstance(value, Literal):
            return value
        if value not in self.measures:
            self.measures.append(value)
        return InputRef(value.type, self._width + self.measures.index(value))

    def node(self) -> MatchRecognize:
        """Return the node with the measures."""
        shown = self._node.type.fields[: self._width]
        fields = (*shown, *(Field(f"$m{place}", value.type) for place, value in enumerate(self.measures)))
        return replace(
            self._node, measures=tuple(self.measures), type=RowType(_with_names(fields), nullable=False)
        )


def _with_names(fields: Iterable[Field]) -> tuple[Field, ...]:
    given = [*fields]
    names = different_names([field.name for field in given])
    return tuple(Field(name, field.type) for name, field in zip(names, given, strict=True))
