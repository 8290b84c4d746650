"""Subqueries within expressions to joins: what a query says of each row becomes a column.

    SELECT a, (SELECT MAX(x) FROM u WHERE u.a = t.a) FROM t
      =>  t LEFT JOIN (SELECT a, MAX(x) FROM u GROUP BY a) ON a = a

Source: Calcite's SubQueryRemoveRule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from firesteel.common.logical_types import BigIntType, BooleanType, Field, RowType
from firesteel.common.places import errors_at
from firesteel.relational.expressions import (
    AggregateCall,
    Expression,
    InputRef,
    Literal,
    rewritten,
)
from firesteel.relational.functions import cast, resolve
from firesteel.relational.logical.joins import Join, different_names
from firesteel.relational.logical.nodes import Aggregate, LogicalNode, Project
from firesteel.relational.rules.substitution import ALWAYS, all_of, refs
from firesteel.sql.binding.decorrelation import Decorrelator, Dependent
from firesteel.sql.binding.functions import materialized
from firesteel.sql.binding.values import AggregateValue, OuterRef, OverValue, QueryValue, parts_of

_COUNT: Final = BigIntType(nullable=False)
_NONE: Final = Literal(_COUNT, 0)
_FALSE: Final = Literal(BooleanType(nullable=False), False)
_UNKNOWN: Final = Literal(BooleanType(), None)
_EXTREMES: Final = {"<": ("MAX",), "<=": ("MAX",), ">": ("MIN",), ">=": ("MIN",), "<>": ("MIN", "MAX")}
"""Which values decide whether one of all compares."""

Answered = tuple[LogicalNode, list[Expression]]


def answered(plan: LogicalNode, values: Sequence[Expression], *, in_aggregates: bool = False) -> Answered:
    """Return the plan with a column for each subquery in the values, after its own, and the values over its rows.

    With `in_aggregates`, those within aggregates alone are answered. Those of windows are left until these are columns.
    """
    if next((part for value in values for part in parts_of(value, QueryValue)), None) is None:
        return plan, list(values)
    asking = _Asking(plan)
    if in_aggregates:
        found = [rewritten(value, asking.within_aggregate) for value in values]
    else:
        found = [rewritten(value, asking.answer) for value in values]
    return asking.plan, found


class _Asking:
    """A plan to which answers are added."""

    def __init__(self, plan: LogicalNode) -> None:
        self.plan = plan
        self._known: dict[Expression, Expression] = {}

    def within_aggregate(self, part: Expression) -> Expression:
        """Return an aggregate without subqueries."""
        if not isinstance(part, AggregateValue):
            return part
        return part.with_operands(tuple(rewritten(operand, self.answer) for operand in part.operands))

    def answer(self, part: Expression) -> Expression:
        """Return the answer of a subquery, whose own operands have none."""
        if not isinstance(part, QueryValue) or next(parts_of(part, OverValue), None) is not None:
            return part
        if part not in self._known:
            with errors_at(part.question.place):
                found = cast(_Answer(self, part).value(), part.type)
            self._known[part] = replace(found, type=part.type).at(part.place)
        return self._known[part]


class _Answer:
    """The answer of one subquery; columns are added to the plan as it needs them."""

    def __init__(self, asking: _Asking, asked: QueryValue) -> None:
        self._asking = asking
        self._question = asked.question
        self._given = asked.given
        self._outer: dict[OuterRef, Expression] = dict(zip(self._question.reads, asked.outer, strict=True))
        self._decorrelator = Decorrelator(asking.plan, self._outer)
        self._rows = self._decorrelator.dependent(self._question.plan)

    def value(self) -> Expression:
        """Return the answer over the rows of the plan."""
        match self._question.kind:
            case "VALUE":
                return self._only_value()
            case "EXISTS":
                return self._exists()
            case "IN":
                return self._is_in()
            case "SOME":
                return self._some()

    def _only_value(self) -> Expression:
        plan = self._question.plan
        if not self._rows.single:
            (field,) = plan.row.fields
            found = self._aggregated([AggregateCall("SINGLE_VALUE", (0,), field.type.copy(True))])
            return found[0]
        values = self._joined(self._rows, (*self._rows.columns, *self._rows.having))
        return self._where(values[1:], values[0])

    def _where(self, having: Sequence[Expression], value: Expression) -> Expression:
        if not having:
            return value
        return resolve("CASE", (all_of(having), value, Literal(value.type.copy(True), None)))

    def _exists(self) -> Expression:
        if self._rows.single and self._question.reads:
            having = self._joined(self._rows, self._rows.having) if self._rows.having else []
            return resolve("IS TRUE", (all_of(having),)) if having else ALWAYS
        return self._marked(())

    def _is_in(self) -> Expression:
        plan = self._question.plan
        if self._rows.single and self._question.reads:
            values = self._joined(self._rows, (*self._rows.columns, *self._rows.having))
            width = len(self._given)
            same = self._equal(values[:width])
            return resolve("CASE", (all_of(values[width:]), same, _FALSE)) if values[width:] else same
        columns = refs(plan.row, range(len(plan.row.fields)))
        unknown = [value for value in self._given if value.type.nullable]
        can_be_null = tuple(column.index for column in columns if column.type.nullable)
        found = self._marked(self._given)
        if not unknown and not can_be_null:
            return found
        every, *known = self._aggregated(
            [AggregateCall("COUNT", arguments, _COUNT) for arguments in dict.fromkeys(((), can_be_null))]
        )
        cases: list[Expression] = [found, ALWAYS, _is_none(every), _FALSE]
        for value in unknown:
            cases += [resolve("IS NULL", (value,)), _UNKNOWN]
        for count in known:
            cases += [resolve("<", (count, every)), _UNKNOWN]
        return resolve("CASE", (*cases, _FALSE))

    def _some(self) -> Expression:
        (field,) = self._question.plan.row.fields
        comparison, (value,) = self._question.comparison, self._given
        kind = field.type.copy(True)
        calls = [AggregateCall(name, (0,), kind) for name in _EXTREMES[comparison]]
        *extremes, every, known = self._aggregated(
            [*calls, AggregateCall("COUNT", (), _COUNT), AggregateCall("COUNT", (0,), _COUNT)]
        )
        compared = [resolve(comparison, (value, extreme)) for extreme in extremes]
        found = compared[0] if len(compared) == 1 else resolve("OR", tuple(compared))
        fewer = resolve("<", (known, every))
        return resolve("CASE", (_is_none(every), _FALSE, found, ALWAYS, fewer, _UNKNOWN, found))

    def _equal(self, columns: Sequence[Expression]) -> Expression:
        return all_of(
            [resolve("=", (value, column)) for value, column in zip(self._given, columns, strict=True)]
        )

    def _marked(self, given: Sequence[Expression]) -> Expression:
        """Return whether there is a row, or one whose columns equal some values."""
        keyed = self._decorrelator.keyed(self._rows)
        places = (*range(len(given)), *keyed.places)
        width = len(places)
        row = keyed.plan.row
        names = different_names([*(row.field_names[place] for place in places), "$there"])
        values = (*map(materialized, refs(row, places)), ALWAYS)
        types = [*(value.type for value in values[:width]), BooleanType()]
        marked = Aggregate(
            Project(keyed.plan, values, tuple(names)),
            tuple(range(width)),
            (AggregateCall("MIN", (width,), BooleanType()),),
            RowType(tuple(map(Field, names, types)), nullable=False),
            place=self._question.place,
        )
        marks = refs(marked.row, range(len(names)))
        rows = keyed.dependent(marked, marks, len(given))
        (found,) = self._joined(rows, (marks[-1],), marks[: len(given)])
        return resolve("IS NOT NULL", (found,))

    def _aggregated(self, calls: Sequence[AggregateCall]) -> list[Expression]:
        """Return aggregates of all rows."""
        fields = tuple(Field(f"$f{place}", call.type) for place, call in enumerate(calls))
        plan = Aggregate(
            self._question.plan, (), tuple(calls), RowType(fields, nullable=False), place=self._question.place
        )
        rows = self._decorrelator.dependent(plan)
        return self._joined(rows, rows.columns)

    def _joined(
        self, rows: Dependent, values: Sequence[Expression], matching: Sequence[Expression] = ()
    ) -> list[Expression]:
        """Join rows, of which there is one at most, and return values of them.

        `matching` are columns of the rows that equal the values before IN.
        """
        plan = self._asking.plan
        conditions = beside(plan, rows.conditions, self._outer)
        if matching:
            conditions.append(self._equal(beside(plan, matching, self._outer)))
        self._asking.plan = Join(
            plan, rows.plan, "LEFT", all_of(conditions or [ALWAYS]), place=self._question.place
        )
        return beside(plan, values, self._outer)


def beside(
    plan: LogicalNode, values: Sequence[Expression], outer: Mapping[OuterRef, Expression]
) -> list[Expression]:
    """Return values over the rows of a subquery as values over those of a join of a plan with it."""
    width = len(plan.row.fields)

    def moved(part: Expression) -> Expression:
        if isinstance(part, OuterRef):
            return outer[part]
        return replace(part, index=part.index + width) if isinstance(part, InputRef) else part

    return [rewritten(value, moved) for value in values]


def _is_none(count: Expression) -> Expression:
    known = resolve("COALESCE", (count, _NONE)) if count.type.nullable else count
    return resolve("=", (known, _NONE))
