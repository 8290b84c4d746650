"""From a logical plan to a physical one: connectors, exchanges, two phases.

Source: Flink's physical rules, such as TwoStageOptimizedAggregateRule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from typing import Final, Literal

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.aggregates import GroupAggregate as Groups
from firesteel.functions.columns.connectors import TableSink, TableSource
from firesteel.functions.columns.windows import WindowAggregate as Windows
from firesteel.functions.columns.windows import WindowTable as WindowRows
from firesteel.relational.expressions import AggregateCall, Expression, InputRef
from firesteel.relational.logical import derived
from firesteel.relational.logical import nodes as logical
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.grouping import (
    GroupAggregate,
    OverAggregate,
    WindowAggregate,
    WindowTableFunction,
)
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import (
    Calc,
    Exchange,
    Expand,
    Sink,
    TableSourceScan,
    Union,
    Values,
    WatermarkAssigner,
)
from firesteel.relational.physical.overs import over_aggregate
from firesteel.relational.physical.texts import call_text
from firesteel.relational.physical.windows import assignment
from firesteel.relational.rules.substitution import refs
from firesteel.relational.tables import ResolvedTable


@dataclass(frozen=True)
class Connections:
    """How tables find their connectors: both functions raise an error that names the table if it has none."""

    source: Callable[[ResolvedTable], TableSource]
    sink: Callable[[ResolvedTable], TableSink]


class Planner:
    """Makes physical plans; equal parts of the plans that one planner makes are the same objects."""

    def __init__(self, options: PlanOptions, connections: Connections) -> None:
        self._options = options
        self._connections = connections
        self._made: list[tuple[logical.LogicalNode, PhysicalNode]] = []

    def plan(self, node: logical.LogicalNode) -> PhysicalNode:
        """Return the physical plan of a relation, without changelog modes.

        Raises ProgramError, and UnsupportedError, for what cannot run in the session's mode.
        """
        for known, made in self._made:
            if known is node or known == node:
                return made
        made = self._planned(node)
        self._made.append((node, made))
        return made

    @singledispatchmethod
    def _planned(self, node: logical.LogicalNode) -> PhysicalNode:
        raise UnsupportedError("is not supported yet", who=type(node).__name__)

    @_planned.register
    def _(self, node: logical.TableScan) -> PhysicalNode:
        table, columns = node.table, tuple(range(len(node.table.read)))
        if table.origin is not None:
            return TableSourceScan(table, columns, None)
        source = self._connections.source(table)
        if source.mode.update_after and not source.mode.update_before:
            raise UnsupportedError(
                "gives the new rows of updates alone, and this is not supported yet",
                who=f"Table source '{shown_name(table)}'",
                hint="use a source that gives the old row of an update, too",
            )
        return TableSourceScan(table, columns, source)

    @_planned.register
    def _(self, node: logical.Values) -> PhysicalNode:
        return Values(node.rows, node.type)

    @_planned.register
    def _(self, node: logical.Project) -> PhysicalNode:
        below = node.input
        if isinstance(below, logical.Filter):
            return self._calc(below.input, node.expressions, below.condition, node.row)
        if isinstance(below, logical.TableScan):
            scan = self._narrowed(node, below.table)
            if scan is not None:
                return scan
        return self._calc(below, node.expressions, None, node.row)

    def _narrowed(self, node: logical.Project, table: ResolvedTable) -> PhysicalNode | None:
        """Return a scan of some columns of a table, if that is what the projection is and the source can do it."""
        scan = self.plan(node.input)
        assert isinstance(scan, TableSourceScan)
        places = tuple(one.index for one in node.expressions if isinstance(one, InputRef))
        names = tuple(scan.row.field_names[place] for place in places)
        if scan.source is None or names != node.names or len(set(places)) < len(node.expressions):
            return None
        narrow = scan.source.source.projected(places)
        return None if narrow is None else TableSourceScan(table, places, replace(scan.source, source=narrow))

    @_planned.register
    def _(self, node: logical.Filter) -> PhysicalNode:
        row = node.row
        return self._calc(node.input, refs(row, range(len(row.fields))), node.condition, row)

    def _calc(
        self,
        below: logical.LogicalNode,
        expressions: tuple[Expression, ...],
        condition: Expression | None,
        row: RowType,
    ) -> PhysicalNode:
        return Calc(self.plan(below), expressions, condition, row)

    @_planned.register
    def _(self, node: logical.Watermark) -> PhysicalNode:
        return WatermarkAssigner(self.plan(node.input), node.column, node.expression, node.type)

    @_planned.register
    def _(self, node: derived.Expand) -> PhysicalNode:
        return Expand(self.plan(node.input), node.keys, node.sets, node.numbers, node.type)

    @_planned.register
    def _(self, node: logical.UnionAll) -> PhysicalNode:
        return Union(tuple(map(self.plan, node.parts)), node.type)

    @_planned.register
    def _(self, node: logical.Aggregate) -> PhysicalNode:
        below = self.plan(node.input)
        given = below.row
        aggregate = Groups(
            input=given,
            output=node.type,
            keys=node.keys,
            aggregations=aggregations(node.calls, given),
            time_to_live=self._time_to_live(node),
        )
        if not self._options.two_phase:
            return GroupAggregate(Exchange(below, node.keys), aggregate)
        local = GroupAggregate(below, aggregate, "local")
        keys = tuple(range(len(node.keys)))
        return GroupAggregate(Exchange(local, keys), aggregate, "global")

    def _time_to_live(self, node: logical.Aggregate) -> int | None:
        if self._options.batch:
            return None
        return self._options.state_ttl if node.time_to_live is None else node.time_to_live or None

    @_planned.register
    def _(self, node: logical.GroupWindowAggregate) -> PhysicalNode:
        below = self.plan(node.input)
        given = below.row
        aggregate = Windows(
            input=given,
            output=node.type,
            keys=node.keys,
            window=assignment(node.window, given, self._options),
            aggregations=aggregations(node.calls, given),
            properties=tuple(_PROPERTIES[name] for name in node.properties),
        )
        legacy = not isinstance(node, derived.WindowAggregate)
        return WindowAggregate(Exchange(below, node.keys), aggregate, legacy)

    @_planned.register
    def _(self, node: logical.WindowTable) -> PhysicalNode:
        below = self.plan(node.input)
        window = assignment(node.window, below.row, self._options)
        partition = getattr(node.window, "partition", ())
        table = WindowRows(below.row, node.type, window, partition)
        if window.shape.kind == "session":
            below = Exchange(below, partition)
        return WindowTableFunction(below, table)

    @_planned.register
    def _(self, node: logical.Over) -> PhysicalNode:
        below = self.plan(node.input)
        return OverAggregate(Exchange(below, node.partition), over_aggregate(node, below.row, self._options))

    @_planned.register
    def _(self, node: logical.TableSink) -> PhysicalNode:
        table = node.table
        title = shown_name(table)
        written = [column.name for column in table.written]
        named = table.primary_key
        key = None if named is None else tuple(map(written.index, named))
        return Sink(
            self.plan(node.input),
            self._connections.sink(table),
            title,
            f"Table sink '{title}'",
            key,
        )

    @_planned.register
    def _(self, node: derived.Delivery) -> PhysicalNode:
        return Sink(self.plan(node.input), node.sink, node.title, node.title)


_PROPERTIES: Final[dict[str, Literal["start", "end", "time"]]] = {
    "START": "start",
    "END": "end",
    "ROWTIME": "time",
    "PROCTIME": "time",
}


def aggregations(calls: tuple[AggregateCall, ...], given: RowType) -> tuple[Aggregation, ...]:
    """Return what an operator computes of rows of this type."""
    names = given.field_names
    return tuple(
        Aggregation(
            function=call.function,
            arguments=call.arguments,
            types=tuple(given.fields[place].type for place in call.arguments),
            type=call.type,
            shown=call_text(call, names),
            distinct=call.distinct,
            filter=call.filter,
            ignore_nulls=call.ignore_nulls,
            order=call.order,
        )
        for call in calls
    )


def shown_name(table: ResolvedTable) -> str:
    """Return a table's full name as Flink's plans and errors have it."""
    identifier = table.identifier
    return ".".join(filter(None, (identifier.catalog, identifier.database, identifier.name)))
