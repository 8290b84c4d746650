"""Queries that speak of columns of the query around them, as queries that do not, and conditions of a join.

A subquery has rows for each row of the query around it. `Dependent` says which: the rows of one plan for which
conditions on both rows are TRUE. Conditions rise through filters, projections and inner joins as they are. Through what
looks at several rows together, such as aggregates, they rise as keys: `x = outer.y` groups by x. Where they are no such
equalities, the values that the query around can have are joined first, each once, and become the keys. Source:
Calcite's RelDecorrelator, which Flink applies, and Neumann and Kemper, "Unnesting Arbitrary Queries".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import Final, NamedTuple

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.relational.expressions import (
    AggregateCall,
    Call,
    Expression,
    Frame,
    InputRef,
    Literal,
    OverCall,
    references,
    rewritten,
)
from firesteel.relational.functions import resolve
from firesteel.relational.functions.aggregates import AGGREGATES
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.joins import Join, different_names
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    LogicalNode,
    Over,
    Project,
    Sort,
    UnionAll,
    Values,
)
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts, refs, substituted
from firesteel.sql.binding.functions import materialized
from firesteel.sql.binding.time_attributes import distinct_rows
from firesteel.sql.binding.values import OuterRef, parts_of

_EQUALITIES: Final = ("=", "IS NOT DISTINCT FROM")
_COUNT: Final = BigIntType(nullable=False)
_WHO: Final = "A subquery that speaks of the query around it"

Outer = tuple[OuterRef, ...]


class Dependent(NamedTuple):
    """The rows that a query has for a row of the query around it: those of `plan` for which `conditions` are TRUE.

    Conditions and `columns`, the values of the query's columns, are over the rows of `plan` and the outer row. With
    `single`, there is always one row: without one in `plan`, it is what `columns` are of NULLs. Of a single row,
    `having` says whether it is there.
    """

    plan: LogicalNode
    columns: tuple[Expression, ...]
    conditions: tuple[Expression, ...] = ()
    single: bool = False
    having: tuple[Expression, ...] = ()


class Key(NamedTuple):
    """What a column of a plan equals for a row of the query around; `function` says how."""

    outer: Expression
    function: str


class Keyed(NamedTuple):
    """The rows that a query has, by keys: `plan` has the query's columns, and then a column for each key."""

    plan: LogicalNode
    keys: tuple[Key, ...]

    @property
    def width(self) -> int:
        """Return the number of the query's columns."""
        return len(self.plan.row.fields) - len(self.keys)

    @property
    def places(self) -> tuple[int, ...]:
        """Return the places of the keys."""
        return tuple(range(self.width, len(self.plan.row.fields)))

    def dependent(self, plan: LogicalNode, columns: tuple[Expression, ...], first: int) -> Dependent:
        """Return the rows of another plan that has the keys, from place `first` on."""
        row = plan.row
        conditions = [
            resolve(key.function, (ref, key.outer))
            for key, ref in zip(self.keys, refs(row, range(first, first + len(self.keys))), strict=True)
        ]
        return Dependent(plan, columns, tuple(conditions))


class Decorrelator:
    """Makes queries within `outer` independent of it; `known` is what the columns that they speak of are there."""

    def __init__(self, outer: LogicalNode, known: Mapping[OuterRef, Expression]) -> None:
        self._outer = outer
        self._known = known

    def dependent(self, plan: LogicalNode) -> Dependent:
        """Return the rows of a query.

        Raises UnsupportedError if the query speaks of columns around it where that is not possible.
        """
        if reads_outer(plan):
            return self._dependent(plan)
        columns = refs(plan.row, range(len(plan.row.fields)))
        single = has_one_row(plan)
        return Dependent(plan, tuple(map(nullable, columns)) if single else columns, single=single)

    def keyed(self, given: Dependent) -> Keyed:
        """Return rows by keys."""
        found = [_as_key(condition) for condition in given.conditions]
        keys = [key for key in found if key is not None]
        plain = not any(map(has_outer, given.columns))
        if given.single or len(keys) < len(found) or not plain:
            return self._by_values(given, _outer_of((*given.columns, *given.conditions, *given.having)))
        inner = [materialized(value) for value, _ in keys]
        return Keyed(_project(given.plan, (*given.columns, *inner)), tuple(key for _, key in keys))

    def _by_values(self, given: Dependent, outer: Outer) -> Keyed:
        """Return rows by the values that columns of the query around have."""
        values = self._values(outer)
        width = len(outer)
        places = dict(zip(outer, refs(values.row, range(width)), strict=True))

        def moved(part: Expression) -> Expression:
            if isinstance(part, OuterRef):
                return places[part]
            return replace(part, index=part.index + width) if isinstance(part, InputRef) else part

        conditions = [rewritten(part, moved) for part in given.conditions]
        joined: LogicalNode = Join(
            values, given.plan, "LEFT" if given.single else "INNER", all_of(conditions or [ALWAYS])
        )
        if given.having:
            joined = Filter(joined, all_of([rewritten(part, moved) for part in given.having]))
        columns = (rewritten(column, moved) for column in given.columns)
        made = _project(joined, (*columns, *refs(values.row, range(width))))
        return Keyed(made, tuple(Key(ref, "IS NOT DISTINCT FROM") for ref in outer))

    def _values(self, outer: Outer) -> LogicalNode:
        """Return the values that columns of the query around have together, each once; one empty row of none."""
        if not outer:
            return Values(((),), RowType((), nullable=False))
        return distinct_rows(_project(self._outer, [materialized(self._known[ref]) for ref in outer]))

    @singledispatchmethod
    def _dependent(self, plan: LogicalNode) -> Dependent:
        raise UnsupportedError(f"is not supported yet around {type(plan).__name__}", who=_WHO)

    @_dependent.register
    def _(self, plan: Filter) -> Dependent:
        below = self.dependent(plan.input)
        parts = conjuncts(substituted(plan.condition, below.columns))
        if below.single:
            return below._replace(having=(*below.having, *parts))
        own = [part for part in parts if not has_outer(part)]
        lifted = tuple(part for part in parts if has_outer(part))
        made = Filter(below.plan, all_of(own), place=plan.place) if own else below.plan
        return below._replace(plan=made, conditions=(*below.conditions, *lifted))

    @_dependent.register
    def _(self, plan: Project) -> Dependent:
        below = self.dependent(plan.input)
        return below._replace(columns=tuple(substituted(one, below.columns) for one in plan.expressions))

    @_dependent.register
    def _(self, plan: Aggregate) -> Dependent:
        given = self.keyed(self.dependent(plan.input))
        own, more = len(plan.keys), len(given.keys)
        if plan.sets is not None and not all(plan.sets):
            raise UnsupportedError("is not supported yet in grouping sets that are empty", who=_WHO)
        added = tuple(range(own, own + more))
        fields = (*plan.type.fields[:own], *given.plan.row.fields[given.width :], *plan.type.fields[own:])
        made = replace(
            plan,
            input=given.plan,
            keys=(*plan.keys, *given.places),
            type=_differing(fields),
            sets=None if plan.sets is None else tuple((*part, *added) for part in plan.sets),
        )
        results = refs(made.row, range(own + more, len(fields)))
        if own or plan.sets is not None:
            return given.dependent(made, (*refs(made.row, range(own)), *results), own)
        columns = tuple(map(_of_a_group_or_none, plan.calls, results))
        return given.dependent(made, columns, 0)._replace(single=True)

    @_dependent.register
    def _(self, plan: Join) -> Dependent:
        left, right = self.dependent(plan.left), self.dependent(plan.right)
        condition = substituted(plan.condition, (*left.columns, *_shifted(right.columns, left.plan)))
        alone = not (right.conditions or has_outer(condition) or any(map(has_outer, right.columns)))
        if left.single or right.single or (plan.kind != "INNER" and not alone):
            return self._joined_by_values(plan, left, right)
        if plan.kind in ("RIGHT", "FULL") or any(map(has_outer, left.columns)):
            return self._joined_by_values(plan, left, right)
        parts = conjuncts(condition)
        own = [part for part in parts if not has_outer(part)]
        made = Join(left.plan, right.plan, plan.kind, all_of(own or [ALWAYS]), plan.times_to_live)
        others = _shifted(right.columns, left.plan) if plan.pairs else ()
        if plan.kind == "LEFT":
            others = tuple(map(nullable, others))
        conditions = (*left.conditions, *_shifted(right.conditions, left.plan), *filter(has_outer, parts))
        return Dependent(made, (*left.columns, *others), conditions)

    def _joined_by_values(self, plan: Join, left: Dependent, right: Dependent) -> Dependent:
        """Return a join of both sides by the values of the query around; other joins would lose rows."""
        if plan.kind in ("RIGHT", "FULL"):
            raise UnsupportedError(f"is not supported yet in {plan.kind} JOIN", who=_WHO)
        parts = [part for side in (left, right) for part in (*side.columns, *side.conditions, *side.having)]
        outer = _outer_of([*parts, plan.condition])
        mine, theirs = (self._by_values(side, outer) for side in (left, right))
        before = len(mine.plan.row.fields)
        places: dict[OuterRef, Expression] = dict(zip(outer, refs(mine.plan.row, mine.places), strict=True))
        width = len(plan.left.row.fields)

        def moved(part: Expression) -> Expression:
            if isinstance(part, InputRef) and part.index >= width:
                return replace(part, index=part.index - width + before)
            return places[part] if isinstance(part, OuterRef) else part

        same = [
            resolve("IS NOT DISTINCT FROM", (places[ref], replace(other, index=other.index + before)))
            for ref, other in zip(outer, refs(theirs.plan.row, theirs.places), strict=True)
        ]
        made = Join(mine.plan, theirs.plan, plan.kind, all_of([rewritten(plan.condition, moved), *same]))
        others = range(before, before + theirs.width) if plan.pairs else ()
        columns = refs(made.row, (*range(mine.width), *others))
        return mine.dependent(made, columns, mine.width)

    @_dependent.register
    def _(self, plan: UnionAll) -> Dependent:
        parts = [self.dependent(part) for part in plan.parts]
        outer = _outer_of(part for one in parts for part in (*one.columns, *one.conditions, *one.having))
        keyed = [self._by_values(part, outer) for part in parts]
        first = keyed[0]
        fields = (*plan.type.fields, *first.plan.row.fields[first.width :])
        made = UnionAll(tuple(part.plan for part in keyed), _differing(fields))
        return first.dependent(made, refs(made.row, range(first.width)), first.width)

    @_dependent.register
    def _(self, plan: Over) -> Dependent:
        given = self.keyed(self.dependent(plan.input))
        width = len(given.plan.row.fields)
        fields = (*given.plan.row.fields, *plan.type.fields[given.width :])
        made = replace(
            plan, input=given.plan, partition=(*plan.partition, *given.places), type=_differing(fields)
        )
        columns = refs(made.row, (*range(given.width), *range(width, len(fields))))
        return given.dependent(made, columns, given.width)

    @_dependent.register
    def _(self, plan: Correlate) -> Dependent:
        given = self.keyed(self.dependent(plan.input))
        kept = (*plan.kept, *given.places)
        fields = (
            *(given.plan.row.fields[place] for place in kept),
            *plan.type.fields[len(plan.kept) :],
        )
        made = replace(plan, input=given.plan, kept=kept, type=_differing(fields))
        own = range(len(plan.kept))
        columns = refs(made.row, (*own, *range(len(kept), len(fields))))
        return given.dependent(made, columns, len(plan.kept))

    @_dependent.register
    def _(self, plan: Sort) -> Dependent:
        below = self.dependent(plan.input)
        if not plan.offset and plan.fetch is None:
            return below
        if not plan.order:
            raise UnsupportedError("is not supported yet with LIMIT and no ORDER BY", who=_WHO)
        given = self.keyed(below)
        number = OverCall("ROW_NUMBER", (), _COUNT, Frame(rows=True, lower=None))
        fields = (*given.plan.row.fields, Field("$place", _COUNT))
        over = Over(given.plan, given.places, plan.order, (number,), _differing(fields), place=plan.place)
        place = InputRef(_COUNT, len(fields) - 1)
        bounds = (
            [resolve("<=", (place, Literal(_COUNT, plan.offset + plan.fetch)))]
            if plan.fetch is not None
            else []
        )
        if plan.offset:
            bounds.append(resolve(">", (place, Literal(_COUNT, plan.offset))))
        made = Filter(over, all_of(bounds), place=plan.place)
        return given.dependent(made, refs(made.row, range(given.width)), given.width)


def reads_outer(plan: LogicalNode) -> bool:
    """Return whether a plan speaks of columns of queries around it."""
    return next(outer_of_plan(plan), None) is not None


def outer_of_plan(plan: LogicalNode) -> Iterator[OuterRef]:
    """Yield the columns of queries around that a plan speaks of."""
    match plan:
        case Project():
            values: Sequence[Expression] = plan.expressions
        case Filter() | Join():
            values = (plan.condition,)
        case _:
            values = ()
    for value in values:
        yield from parts_of(value, OuterRef)
    for given in plan.inputs:
        yield from outer_of_plan(given)


def has_outer(value: Expression) -> bool:
    """Return whether a value speaks of columns of queries around."""
    return next(parts_of(value, OuterRef), None) is not None


def has_one_row(plan: LogicalNode) -> bool:
    """Return whether a query has always one row."""
    match plan:
        case Project():
            return has_one_row(plan.input)
        case Aggregate():
            return not plan.keys and plan.sets is None
        case Values():
            return len(plan.rows) == 1
    return False


def nullable(value: Expression) -> Expression:
    """Return a column that can be NULL now."""
    return replace(value, type=value.type.copy(True))


def _outer_of(values: Iterable[Expression]) -> Outer:
    return tuple(dict.fromkeys(part for value in values for part in parts_of(value, OuterRef)))


def _as_key(condition: Expression) -> tuple[Expression, Key] | None:
    """Return the value of the query and that of the query around which a condition says to be equal, if it does."""
    if not (isinstance(condition, Call) and condition.function in _EQUALITIES):
        return None
    first, second = condition.arguments
    if has_outer(first):
        first, second = second, first
    if has_outer(first) or not has_outer(second) or next(references(second), None) is not None:
        return None
    return (first, Key(second, condition.function)) if next(references(first), None) is not None else None


def _of_a_group_or_none(call: AggregateCall, result: Expression) -> Expression:
    """Return the result of an aggregate of all rows, where a group that has no rows is missing."""
    function = AGGREGATES[call.function]
    if function.of_nothing:
        return nullable(result)
    if not isinstance(call.type, BigIntType):
        raise UnsupportedError(f"is not supported yet with {call.function} of all rows", who=_WHO)
    return resolve("COALESCE", (nullable(result), Literal(_COUNT, 0)))


def _shifted(values: Iterable[Expression], by: LogicalNode) -> tuple[Expression, ...]:
    width = len(by.row.fields)

    def moved(part: Expression) -> Expression:
        return replace(part, index=part.index + width) if isinstance(part, InputRef) else part

    return tuple(rewritten(value, moved) for value in values)


def _project(plan: LogicalNode, values: Sequence[Expression]) -> LogicalNode:
    names = different_names(
        [
            plan.row.field_names[value.index] if isinstance(value, InputRef) else f"$f{place}"
            for place, value in enumerate(values)
        ]
    )
    return Project(plan, tuple(values), tuple(names))


def _differing(fields: Sequence[Field]) -> RowType:
    """Return columns with different names."""
    names = different_names([field.name for field in fields])
    return RowType(
        tuple(Field(name, field.type) for name, field in zip(names, fields, strict=True)), nullable=False
    )
