"""What functions of the user's compute gets an operator of its own, because the kernel has none of them.

    Project(f(a + 1) * 2)  =>  Project(f0 * 2) over PythonCalc(f($f1) AS f0) over Project(a, a + 1 AS $f1)

Conditions that need none of them are asked first. Equal calls are computed once, unless the function may give another
result each time. Source: Flink's PythonCalcSplitRule and SplitPythonConditionFromJoinRule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import Field, RowType
from firesteel.common.places import errors_at
from firesteel.functions.columns.python_functions import PythonCall
from firesteel.relational.expressions import Expression, InputRef, UserCall, rewritten
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.derived import PythonCalc
from firesteel.relational.logical.joins import Join, different_names
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, Watermark, transformed
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.logical.temporal_joins import TemporalJoin
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import (
    ALWAYS,
    all_of,
    calls_user,
    conjuncts,
    is_deterministic,
    refs,
)


def split_python_calls(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Compute calls of the user's functions before what reads their results."""
    return transformed(plan, _split)


def _split(node: LogicalNode) -> LogicalNode:
    match node:
        case Project() if any(map(calls_user, node.expressions)):
            made = _Computed(node.input, node.expressions)
            return Project(made.node, tuple(made.values), node.names, place=node.place)
        case Filter() if calls_user(node.condition):
            return _filtered(node)
        case Join() | TemporalJoin() if calls_user(node.condition):
            return _joined(node)
        case Correlate() if node.condition is not None and calls_user(node.condition):
            raise _unsupported(node.condition, "ON of a LEFT JOIN")
        case Watermark() if calls_user(node.expression):
            raise _unsupported(node.expression, "a watermark")
        case MatchRecognize():
            for value in (*node.measures, *(one.condition for one in node.definitions)):
                if calls_user(value):
                    raise _unsupported(value, "MATCH_RECOGNIZE")
    return node


def _filtered(node: Filter) -> LogicalNode:
    plain, calling = _parted(node.condition)
    below = Filter(node.input, all_of(plain), place=node.place) if plain else node.input
    made = _Computed(below, calling)
    kept = Filter(made.node, all_of(made.values), place=node.place)
    row = node.row
    return Project(kept, refs(row, range(len(row.fields))), tuple(row.field_names))


def _joined(node: Join | TemporalJoin) -> LogicalNode:
    """Return an inner join with what calls functions asked behind it."""
    plain, calling = _parted(node.condition)
    if node.kind != "INNER":
        raise _unsupported(calling[0], "ON of an outer join, or of IN and EXISTS")
    return _filtered(Filter(replace(node, condition=all_of(plain or [ALWAYS])), all_of(calling)))


def _parted(condition: Expression) -> tuple[list[Expression], list[Expression]]:
    """Return the parts of a condition that call no function of the user's, and those that do."""
    parts = conjuncts(condition)
    return [part for part in parts if not calls_user(part)], [part for part in parts if calls_user(part)]


def _unsupported(expression: Expression, where: str) -> UnsupportedError:
    name = next(_user_calls(expression)).function.name
    with errors_at(expression.whereabouts):
        raise UnsupportedError(f"cannot be called in {where}", who=f"Function {name}")


def _user_calls(expression: Expression) -> Iterator[UserCall]:
    if isinstance(expression, UserCall):
        yield expression
    for operand in expression.operands:
        yield from _user_calls(operand)


class _Computed:
    """`values` are expressions over an input as ones over `node`: its columns, and what calls give."""

    def __init__(self, node: LogicalNode, expressions: Sequence[Expression]) -> None:
        self.node = node
        self._known: list[tuple[Expression, int]] = []
        calls = [call for expression in expressions for call in _user_calls(expression)]
        self._compute([one for call in calls for one in call.arguments if not calls_user(one)])
        self.values = [rewritten(expression, self._called) for expression in expressions]

    def _called(self, part: Expression) -> Expression:
        """Return the column of a call's results; its arguments call nothing any more."""
        if not isinstance(part, UserCall):
            return part
        place = self._place_of(part)
        if place is None:
            self._compute(part.arguments)
            arguments = tuple(map(self._place_of, part.arguments))
            place = self._call(PythonCall(part.function, tuple(one for one in arguments if one is not None)))
            self._known.append((part, place))
        return InputRef(part.type, place)

    def _call(self, call: PythonCall) -> int:
        fields = self.node.row.fields
        name = different_names([field.name for field in fields] + [f"f{len(fields)}"])[-1]
        row = RowType((*fields, Field(name, call.function.result)), nullable=False)
        if isinstance(self.node, PythonCalc):
            self.node = replace(self.node, calls=(*self.node.calls, call), type=row)
        else:
            self.node = PythonCalc(self.node, (call,), row)
        return len(fields)

    def _place_of(self, value: Expression) -> int | None:
        """Return the column that has a value; None if it has to be computed."""
        if isinstance(value, InputRef):
            return value.index
        if not is_deterministic(value):
            return next((place for known, place in self._known if known is value), None)
        return next((place for known, place in self._known if known == value), None)

    def _compute(self, values: Sequence[Expression]) -> None:
        """Add columns for those values that have none."""
        row = self.node.row
        width = len(row.fields)
        missing: list[Expression] = []
        for value in values:
            if self._place_of(value) is None:
                self._known.append((value, width + len(missing)))
                missing.append(value)
        if missing:
            names = different_names(
                [*row.field_names, *(f"$f{width + place}" for place in range(len(missing)))]
            )
            self.node = Project(self.node, (*refs(row, range(width)), *missing), tuple(names))
