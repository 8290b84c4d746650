"""Aggregates and windows within expressions to nodes of a plan, and references to their columns.

Contract: a step takes the values that SELECT, HAVING and ORDER BY need, over the rows of the plan so far, and returns
the plan that computes more, with the values over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.relational.expressions import AggregateCall, Expression, InputRef, Literal, OverCall, SortKey
from firesteel.relational.logical.nodes import Aggregate, GroupWindowAggregate, LogicalNode, Over, Project
from firesteel.sql.binding.groups import Groups
from firesteel.sql.binding.time_attributes import as_key
from firesteel.sql.binding.values import (
    AggregateValue,
    GroupingValue,
    OverValue,
    WindowProperty,
    parts_of,
)

_Value = TypeVar("_Value", bound=Expression)
Lowered = tuple[LogicalNode, list[Expression]]
Names = Mapping[Expression, str]
"""What values are called in the result, so that columns on the way have these names."""


class NotGroupedError(Exception):
    """A value refers to a column that is neither a key nor within an aggregate; `value` is the reference."""

    def __init__(self, value: InputRef, place: int) -> None:
        super().__init__(value)
        self.value = value
        self.place = place


class WrongWindowError(Exception):
    """A property is asked of another window than that of GROUP BY."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class WrongGroupingError(Exception):
    """GROUPING is asked about something that is no key."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class Columns:
    """Columns that a projection computes: each expression once, with a name of its own."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._places: dict[Expression, int] = {}
        self._taken: set[str] = set()
        self.values: list[Expression] = []
        self.fields: list[Field] = []

    def place(self, value: Expression) -> int:
        """Return the place of a value's column, which is added if it is new."""
        if value not in self._places:
            self.add(value, value.type)
        return self._places[value]

    def add(self, value: Expression, kind: LogicalType) -> None:
        """Add a column for a value even if it has one."""
        self._places.setdefault(value, len(self.values))
        self.values.append(value)
        self.fields.append(Field(self._free(self._names.get(value)), kind))

    def _free(self, wanted: str | None) -> str:
        name, number = wanted or f"$f{len(self.fields)}", len(self.fields)
        while name in self._taken or not name.strip():
            name, number = f"$f{number}", number + 1
        self._taken.add(name)
        return name

    def project(self, plan: LogicalNode) -> Project:
        """Return the projection of a plan to these columns."""
        return Project(plan, tuple(self.values), tuple(field.name for field in self.fields))

    @property
    def row(self) -> RowType:
        """Return the type of a row of the columns."""
        return RowType(tuple(self.fields), nullable=False)


def grouped(plan: LogicalNode, groups: Groups, values: Sequence[Expression], names: Names) -> Lowered:
    """Return the aggregate of a plan; raises NotGroupedError, WrongWindowError and WrongGroupingError."""
    _check_window(values, groups)
    values = [_grouping(value, groups, place) for place, value in enumerate(values)]
    known = {**_names_of(plan), **names}
    columns = [as_key(key, plan) for key in groups.keys]
    given = Columns(
        {**known, **{column: known.get(key, "") for key, column in zip(groups.keys, columns, strict=True)}}
    )
    keys = tuple(given.place(column) for column in columns)
    if groups.window is not None:
        time = plan.row.fields[groups.window.time]
        given.place(InputRef(time.type, groups.window.time))
    aggregates = _unique(values, AggregateValue)
    groupings = _unique(values, GroupingValue)
    calls = [_aggregate_call(value, given) for value in aggregates]
    calls += [_grouping_call(value, given) for value in groupings]
    properties = _unique(values, WindowProperty)
    if not given.values:  # COUNT(*) alone reads no column, but rows
        first = plan.row.fields[0]
        given.place(InputRef(first.type, 0))
    result = Columns(known)
    omitted = set() if groups.sets is None else _omitted(groups)
    for place, (key, column) in enumerate(zip(groups.keys, columns, strict=True)):
        result.add(key, column.type.copy(nullable=key.type.nullable or place in omitted))
    for value in (*aggregates, *groupings, *properties):
        result.add(value, value.type)
    node = _node(given.project(plan), groups, keys, tuple(calls), properties, result.row, given)
    found = {value: InputRef(result.fields[place].type, place) for place, value in enumerate(result.values)}
    return node, [_replaced(value, found, place) for place, value in enumerate(values)]


def _check_window(values: Sequence[Expression], groups: Groups) -> None:
    for place, value in enumerate(values):
        if any(part.window != groups.window for part in parts_of(value, WindowProperty)):
            raise WrongWindowError(place)


def _grouping(value: Expression, groups: Groups, place: int) -> Expression:
    """Return a value without the GROUPING that is 0 because there is one grouping set."""

    def constant(part: Expression) -> Expression | None:
        if not isinstance(part, GroupingValue):
            return None
        if any(argument not in groups.keys for argument in part.arguments):
            raise WrongGroupingError(place)
        return Literal(part.type, 0) if groups.sets is None else None

    return rewritten_top(value, constant)


def _names_of(plan: LogicalNode) -> dict[Expression, str]:
    return {InputRef(field.type, place): field.name for place, field in enumerate(plan.row.fields)}


def _unique(values: Sequence[Expression], kind: type[_Value]) -> list[_Value]:
    return list(dict.fromkeys(part for value in values for part in parts_of(value, kind)))


def _omitted(groups: Groups) -> set[int]:
    assert groups.sets is not None
    return {place for place in range(len(groups.keys)) if any(place not in part for part in groups.sets)}


def _aggregate_call(value: AggregateValue, given: Columns) -> AggregateCall:
    return AggregateCall(
        value.function,
        tuple(given.place(argument) for argument in value.arguments),
        value.type,
        distinct=value.distinct,
        filter=None if value.filter is None else given.place(value.filter),
        ignore_nulls=value.ignore_nulls,
        user=value.user,
    )


def _grouping_call(value: GroupingValue, given: Columns) -> AggregateCall:
    return AggregateCall(
        value.function, tuple(given.place(argument) for argument in value.arguments), value.type
    )


def _node(
    plan: LogicalNode,
    groups: Groups,
    keys: tuple[int, ...],
    calls: tuple[AggregateCall, ...],
    properties: Sequence[WindowProperty],
    row: RowType,
    given: Columns,
) -> LogicalNode:
    if groups.window is None:
        return Aggregate(plan, keys, calls, row, groups.sets)
    time = next(
        place
        for place, value in enumerate(given.values)
        if isinstance(value, InputRef) and value.index == groups.window.time
    )
    kinds = tuple(value.property for value in properties)
    return GroupWindowAggregate(plan, replace(groups.window, time=time), keys, calls, kinds, row)


def _replaced(value: Expression, found: Mapping[Expression, InputRef], place: int) -> Expression:
    """Return a value over the rows of the aggregate."""
    if value in found:
        return found[value]
    if isinstance(value, InputRef):
        raise NotGroupedError(value, place)
    operands = tuple(_replaced(operand, found, place) for operand in value.operands)
    return value.with_operands(operands) if operands else value


def windowed(plan: LogicalNode, values: Sequence[Expression], names: Names) -> Lowered:
    """Return the plan with a column for each OVER in the values: one node for each partitioning and order."""
    overs = _unique(values, OverValue)
    if not overs:
        return plan, list(values)
    given = Columns({**_names_of(plan), **names})
    for place, field in enumerate(plan.row.fields):
        given.add(InputRef(field.type, place), field.type)
    width = len(given.values)
    for over in overs:
        for operand in over.operands:
            given.place(operand)
    node: LogicalNode = plan if len(given.values) == width else given.project(plan)
    groups: dict[object, list[OverValue]] = {}
    for over in overs:
        groups.setdefault((over.partition, over.order), []).append(over)
    found: dict[Expression, InputRef] = {}
    taken = Columns({**names, **dict(zip(given.values, node.row.field_names, strict=True))})
    for value in given.values:
        taken.add(value, value.type)
    for members in groups.values():
        for over in members:
            found[over] = InputRef(over.type, len(taken.fields))
            taken.add(over, over.type)
        node = _over(node, members, given, taken.row)
    return node, [rewritten_top(value, found.get) for value in values]


def _over(plan: LogicalNode, members: Sequence[OverValue], given: Columns, row: RowType) -> Over:
    first = members[0]
    calls = tuple(
        OverCall(
            over.function,
            tuple(given.place(argument) for argument in over.arguments),
            over.type,
            over.frame,
            distinct=over.distinct,
            ignore_nulls=over.ignore_nulls,
            user=over.user,
        )
        for over in members
    )
    order = tuple(SortKey(given.place(key.value), key.ascending, key.nulls_first) for key in first.order)
    partition = tuple(given.place(key) for key in first.partition)
    return Over(plan, partition, order, calls, row, place=first.place)


def rewritten_top(value: Expression, replacement: Callable[[Expression], Expression | None]) -> Expression:
    """Return a value with each part replaced for which there is a replacement, outer parts first."""
    other = replacement(value)
    if other is not None:
        return other
    operands = tuple(rewritten_top(operand, replacement) for operand in value.operands)
    return value.with_operands(operands) if operands else value
