"""Variances, standard deviations and averages of small numbers are made of sums, over windows and rows of matches.

    VAR_POP(x) OVER w  =>  (SUM(x * x) OVER w - SUM(x) OVER w * SUM(x) OVER w / COUNT(x) OVER w) / COUNT(x) OVER w

All of it is in the type of the result: whole numbers are divided as such and wrap, decimals are rounded at each step.
Averages of other numbers are the same either way. Source: Calcite's AvgVarianceConvertlet, which Flink applies to calls
with OVER and in MATCH_RECOGNIZE only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from firesteel.common.logical_types import BigIntType, DecimalType, Field, LogicalTypeRoot, RowType
from firesteel.relational.expressions import Call, Expression, Literal, OverCall, rewritten
from firesteel.relational.functions import cast, resolve
from firesteel.relational.functions.aggregates import resolve_aggregate
from firesteel.relational.logical.nodes import LogicalNode, Over, Project, transformed
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.options import PlanOptions
from firesteel.relational.row_patterns import RowsTotal
from firesteel.relational.rules.expand_grouping_sets import fresh
from firesteel.relational.rules.substitution import refs

_VARIANCES: Final = frozenset({"VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP"})
_WRAPPING: Final = frozenset({LogicalTypeRoot.TINYINT, LogicalTypeRoot.SMALLINT, LogicalTypeRoot.INTEGER})
"""Types of numbers whose sums wrap before those of BIGINT."""
_NOTHING: Final = BigIntType()
_HALF: Final = Decimal("0.5")


def expand_averages(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Replace the variances, standard deviations and averages of all windows and matches."""
    return transformed(plan, _expanded)


def _expanded(node: LogicalNode) -> LogicalNode:
    if isinstance(node, MatchRecognize):
        conditions = (replace(one, condition=rewritten(one.condition, _of_rows)) for one in node.definitions)
        measures = (rewritten(measure, _of_rows) for measure in node.measures)
        return replace(node, definitions=tuple(conditions), measures=tuple(measures))
    if not isinstance(node, Over) or not any(_is_of_sums(call) for call in node.calls):
        return node
    inner = _Inner(node)
    found = [inner.sums(call) if _is_of_sums(call) else (inner.place(call),) for call in node.calls]
    over = inner.over()
    results = refs(over.row, range(len(inner.columns), len(over.row.fields)))
    columns = [
        _result(call, [results[place] for place in places])
        for call, places in zip(node.calls, found, strict=True)
    ]
    given = refs(over.row, range(len(node.input.row.fields)))
    return Project(over, (*given, *columns), tuple(node.row.field_names))


def _of_rows(part: Expression) -> Expression:
    """Return an aggregate over rows of a match as one of sums, if it is that."""
    if not isinstance(part, RowsTotal) or not _is_of_sums(part):
        return part
    sums = (
        replace(part, type=resolve_aggregate(name, [value]).type, function=name, arguments=(value,))
        for name, value in _parts(part, part.arguments[0])
    )
    return _result(part, list(sums))


def _is_of_sums(call: OverCall | RowsTotal) -> bool:
    return call.function in _VARIANCES or (call.function == "AVG" and call.type.root in _WRAPPING)


class _Inner:
    """The window that computes the sums: its input's columns, and each call once."""

    def __init__(self, node: Over) -> None:
        self._node = node
        self.columns: list[Expression] = [*refs(node.input.row, range(len(node.input.row.fields)))]
        self._calls: list[OverCall] = []

    def sums(self, call: OverCall) -> tuple[int, ...]:
        """Return the places of the sums that a call is made of, the number of values last."""
        parts = _parts(call, self.columns[call.arguments[0]])
        return tuple(self.place(self._call(call, function, column)) for function, column in parts)

    def place(self, call: OverCall) -> int:
        """Return the place of a call."""
        if call not in self._calls:
            self._calls.append(call)
        return self._calls.index(call)

    def over(self) -> Over:
        """Return the window."""
        node, names = self._node, [*self._node.input.row.field_names]
        for _ in self.columns[len(names) :]:
            names.append(fresh(f"$f{len(names)}", names))
        given = Project(node.input, tuple(self.columns), tuple(names))
        fields = [*given.row.fields]
        for call in self._calls:
            fields.append(Field(fresh(f"w{len(fields)}$o", [field.name for field in fields]), call.type))
        return replace(
            node, input=given, calls=tuple(self._calls), type=RowType(tuple(fields), nullable=False)
        )

    def _call(self, call: OverCall, function: str, column: Expression) -> OverCall:
        if column not in self.columns:
            self.columns.append(column)
        place = self.columns.index(column)
        kind = resolve_aggregate(function, [column]).type
        return replace(call, function=function, arguments=(place,), type=kind)


def _parts(call: OverCall | RowsTotal, argument: Expression) -> list[tuple[str, Expression]]:
    """Return the sums that a call is made of, with what they add up, and the number of values last."""
    value = cast(argument, call.type)
    parts = [("SUM", value), ("COUNT", value)]
    if call.function in _VARIANCES:
        parts.insert(0, ("SUM", cast(resolve("*", (value, value)), call.type)))
    return parts


def _result(call: OverCall | RowsTotal, parts: Sequence[Expression]) -> Expression:
    if not _is_of_sums(call):
        return parts[0]
    if call.function == "AVG":
        values, number = parts
        return _typed(resolve("/", (values, number)), call)
    squares, values, number = parts
    return _variance(call, squares, values, number)


def _variance(
    call: OverCall | RowsTotal, squares: Expression, values: Expression, number: Expression
) -> Expression:
    kind = call.type
    total, count = cast(values, kind), cast(number, kind)
    mean = resolve("/", (cast(resolve("*", (total, total)), kind), count))
    away = cast(resolve("-", (cast(squares, kind), cast(mean, kind))), kind)
    found = resolve("/", (away, _others(number) if call.function.endswith("_SAMP") else count))
    if call.function.startswith("STDDEV"):
        found = resolve("POWER", (found, Literal(DecimalType(2, 1, nullable=False), _HALF)))
    return _typed(found, call)


def _others(number: Expression) -> Expression:
    """Return a number less one, NULL instead of 0."""
    one = Literal(number.type, 1)
    return resolve(
        "CASE", (resolve("=", (number, one)), Literal(_NOTHING, None), resolve("-", (number, one)))
    )


def _typed(found: Expression, call: OverCall | RowsTotal) -> Expression:
    return found if found.type == call.type else Call(call.type, "CAST", (found,))
