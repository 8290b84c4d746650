"""GROUPING SETS, ROLLUP and CUBE: each row once for each set, then grouped by the set's number, too.

`GROUPING(...)` follows from the number. Keys that are also arguments of aggregates are copied first, because a set that
leaves them out makes them NULL.
"""

from __future__ import annotations

from firesteel.common.logical_types import BigIntType, BooleanType, Field, RowType
from firesteel.relational.expressions import AggregateCall, Call, Expression, InputRef, Literal
from firesteel.relational.logical.derived import Expand
from firesteel.relational.logical.nodes import Aggregate, LogicalNode, Project, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import columns_of, moved_call, refs

_NUMBER = BigIntType(nullable=False)
_GROUPING = frozenset(["GROUPING", "GROUPING_ID", "GROUP_ID"])


def expand_grouping_sets(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Replace the sets of all aggregates."""
    return transformed(plan, _expanded)


def _expanded(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Aggregate) or node.sets is None:
        return node
    copied, copies = _with_copies(node)
    numbers = _numbers(node.sets)
    expand = _expand(node, copied, numbers)
    places = {place: copies.get(place, place) for place in range(len(copied.row.fields))}
    computed = [moved_call(call, places) for call in node.calls if call.function not in _GROUPING]
    aggregate = _aggregate(node, expand, computed)
    return _results(node, aggregate, numbers)


def _with_copies(node: Aggregate) -> tuple[LogicalNode, dict[int, int]]:
    """Return the input with copies of the keys that calls read, and the places of these."""
    row = node.input.row
    read = {place for call in node.calls if call.function not in _GROUPING for place in columns_of(call)}
    both = sorted(read & set(node.keys))
    if not both:
        return node.input, {}
    names = [*row.field_names]
    for place in both:
        names.append(fresh(f"{row.field_names[place]}_0", names))
    columns = refs(row, [*range(len(row.fields)), *both])
    copies = {place: len(row.fields) + number for number, place in enumerate(both)}
    return Project(node.input, columns, tuple(names)), copies


def _expand(node: Aggregate, given: LogicalNode, numbers: tuple[int, ...]) -> Expand:
    assert node.sets is not None
    sets = tuple(tuple(node.keys[place] for place in one) for one in node.sets)
    partial = {key for key in node.keys if any(key not in kept for kept in sets)}
    fields = [
        field._replace(type=field.type.copy(True)) if place in partial else field
        for place, field in enumerate(given.row.fields)
    ]
    number = Field(fresh("e$", given.row.field_names), _NUMBER)
    return Expand(given, node.keys, sets, numbers, RowType((*fields, number), nullable=False))


def _aggregate(node: Aggregate, expand: Expand, calls: list[AggregateCall]) -> Aggregate:
    number = len(expand.row.fields) - 1
    results = [
        field for field, call in zip(node.row.fields[len(node.keys) :], node.calls, strict=True)
        if call.function not in _GROUPING
    ]  # fmt: skip
    last = Field(fresh("e$", node.row.field_names), _NUMBER)
    fields = (*node.row.fields[: len(node.keys)], last, *results)
    row = RowType(fields, nullable=False)
    keys = (*node.keys, number)
    return Aggregate(expand, keys, tuple(calls), row, None, node.time_to_live, place=node.place)


def _results(node: Aggregate, aggregate: Aggregate, numbers: tuple[int, ...]) -> Project:
    count = len(node.keys)
    number = InputRef(_NUMBER, count)
    columns: list[Expression] = [*refs(aggregate.row, range(count))]
    place = count + 1
    for call in node.calls:
        if call.function in _GROUPING:
            columns.append(_grouping(node, call, number, numbers))
        else:
            columns.append(InputRef(call.type, place))
            place += 1
    return Project(aggregate, tuple(columns), tuple(node.row.field_names))


def _grouping(node: Aggregate, call: AggregateCall, number: InputRef, numbers: tuple[int, ...]) -> Expression:
    """Return what a call gives for each set, chosen by the set's number."""
    assert node.sets is not None
    found = _equal_before(node.sets) if call.function == "GROUP_ID" else _left_out(node, call)
    values = [Literal(call.type, value) for value in found]
    if len({value.value for value in values}) == 1:
        return values[0]
    cases: list[Expression] = []
    for one, value in list(zip(numbers, values, strict=True))[:-1]:
        same = Call(BooleanType(nullable=False), "=", (number, Literal(_NUMBER, one)))
        cases.extend([same, value])
    return Call(call.type, "CASE", (*cases, values[-1]))


def _left_out(node: Aggregate, call: AggregateCall) -> list[int]:
    """Return a bit for each argument, the last one lowest: whether the set leaves it out."""
    assert node.sets is not None
    kept = [{node.keys[place] for place in one} for one in node.sets]
    bits = ["".join("0" if argument in keys else "1" for argument in call.arguments) for keys in kept]
    return [int(one, 2) for one in bits]


def _equal_before(sets: tuple[tuple[int, ...], ...]) -> list[int]:
    return [sets[:place].count(one) for place, one in enumerate(sets)]


def _numbers(sets: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return a number for each set: its place, so that equal sets are told apart."""
    return tuple(range(len(sets)))


def fresh(name: str, taken: list[str]) -> str:
    """Return the name, with underscores if it is taken.

    >>> fresh("e$", ["a", "e$"])
    'e$_'
    """
    while name in taken:
        name += "_"
    return name
