"""What operators refuse is refused before anything runs, at the place of the node that needs it."""

from __future__ import annotations

from functools import singledispatch

import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.places import errors_at
from firesteel.relational.physical.grouping import (
    GroupAggregate,
    OverAggregate,
    OverPartitions,
    WindowAggregate,
)
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.row_patterns import Match
from firesteel.relational.physical.sorting import Sort
from firesteel.relational.row_patterns import RowsTotal
from firesteel.relational.translation.row_conditions import row_parts
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.matching.definition import pattern_definition
from firesteel.runtime.columns.matching.totals import ADDED_UP
from firesteel.runtime.columns.over.calls import Calls, require_streamable
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.columns.windows.placing import placing_of
from firesteel.runtime.patterns.compiling import compiled


def check_operators(plan: PhysicalNode) -> None:
    """Raise the UnsupportedError that the operator of one of a plan's nodes would raise when it is opened."""
    for given in plan.inputs:
        check_operators(given)
    with errors_at(plan.place):
        _check(plan)


@singledispatch
def _check(plan: PhysicalNode) -> None:
    """Nodes of other kinds have operators that take all that the planner makes."""


@_check.register
def _(plan: GroupAggregate) -> None:
    Form(plan.aggregate)


@_check.register
def _(plan: WindowAggregate) -> None:
    window = plan.aggregate.window
    if window.shape.kind != "session" or window.end is not None:
        placing_of(window, plan.name)


@_check.register
def _(plan: OverAggregate) -> None:
    require_streamable(plan.over.aggregations, "OVER window")
    Calls(plan.over.input, plan.over.aggregations)


@_check.register
def _(plan: OverPartitions) -> None:
    require_sortable(to_arrow_schema(plan.over.input), plan.over.order, "OVER window")


@_check.register
def _(plan: Match) -> None:
    compiled(pattern_definition(plan.pattern, {}))
    for definition in plan.definitions:
        for part in row_parts(definition.condition):
            if isinstance(part, RowsTotal) and part.function not in ADDED_UP:
                with errors_at(part.place):
                    raise UnsupportedError(
                        "is not supported in DEFINE yet", who=f"the aggregate function {part.function}"
                    )


@_check.register
def _(plan: Sort) -> None:
    for key in plan.order:
        field = plan.row.fields[key.column]
        if pa.types.is_nested(to_arrow(field.type)):
            raise UnsupportedError(
                "cannot sort by values of this type", who="ORDER BY", got=f"{field.name} {field.type}"
            )
