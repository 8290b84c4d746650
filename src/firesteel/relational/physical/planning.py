"""From a logical plan to a physical one: connectors, exchanges, two phases.

Source: Flink's physical rules, such as TwoStageOptimizedAggregateRule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Final, Literal

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import Field, RowType
from firesteel.common.places import errors_at
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.aggregates import GroupAggregate as Groups
from firesteel.functions.columns.changelogs import FromChangelog as Said
from firesteel.functions.columns.changelogs import ToChangelog as Rows
from firesteel.functions.columns.connectors import TableSink, TableSource
from firesteel.functions.columns.windows import WindowAggregate as Windows
from firesteel.functions.columns.windows import WindowAssignment
from firesteel.functions.columns.windows import WindowTable as WindowRows
from firesteel.relational.expressions import AggregateCall, Expression
from firesteel.relational.logical import derived
from firesteel.relational.logical import nodes as logical
from firesteel.relational.logical.changelogs import FromChangelog, ToChangelog
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.process_tables import ProcessTable
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.logical.temporal_joins import TemporalJoin, Versions
from firesteel.relational.logical.vectors import VectorSearch
from firesteel.relational.logical.windows import Session
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical import changelogs, correlates
from firesteel.relational.physical.changelog import changes_of
from firesteel.relational.physical.grouping import (
    GroupAggregate,
    OverAggregate,
    OverChanges,
    OverPartitions,
    WindowAggregate,
    WindowTableFunction,
)
from firesteel.relational.physical.lookup_joins import Lookups, lookup_join_node
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import (
    Calc,
    Exchange,
    Expand,
    Replicate,
    Union,
    Values,
    WatermarkAssigner,
)
from firesteel.relational.physical.normalizing import (
    ChangelogNormalize,
    filtered,
    narrowed,
    with_watermarks,
)
from firesteel.relational.physical.overs import over_aggregate, over_changes, over_partitions, waits_for_time
from firesteel.relational.physical.process_tables import process_table
from firesteel.relational.physical.ranks import rank_node, refuse_ranks
from firesteel.relational.physical.row_patterns import match_node
from firesteel.relational.physical.scanning import limited, over_scan, reading, sifted
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.sinks import Sink, constrained, overwriting
from firesteel.relational.physical.sorting import sorting
from firesteel.relational.physical.table_scans import reordered, table_scan
from firesteel.relational.physical.temporal_joins import temporal_join_node, versions_node
from firesteel.relational.physical.texts import call_text
from firesteel.relational.physical.timed_joins import join_node
from firesteel.relational.physical.vector_search import vector_search_node
from firesteel.relational.physical.window_ranks import window_rank
from firesteel.relational.physical.windows import assignment
from firesteel.relational.rules.carried_windows import ranks_windows
from firesteel.relational.rules.substitution import moved, refs
from firesteel.relational.tables import ResolvedTable, delivery_order, shown_name
from firesteel.runtime.columns.windows.choosing import has_two_phases


@dataclass(frozen=True)
class Connections:
    """How tables find their connectors: the functions raise an error that names the table if it has none."""

    source: Callable[[ResolvedTable], TableSource]
    sink: Callable[[ResolvedTable], TableSink]
    lookup: Lookups = lambda _table, _keys, _calls: None


class Planner:
    """Makes physical plans; equal parts of the plans that one planner makes are the same objects."""

    def __init__(self, options: PlanOptions, connections: Connections) -> None:
        self._options = options
        self._connections = connections
        self._made: list[tuple[logical.LogicalNode, PhysicalNode]] = []

    def plan(self, node: logical.LogicalNode) -> PhysicalNode:
        """Return the physical plan of a relation, without changelog modes.

        Raises ProgramError, and UnsupportedError, for what cannot run in the session's mode, with its place.
        """
        for known, made in self._made:
            if known is node or known == node:
                return made
        with errors_at(node.place):
            made = self._planned(node).at(node.place)
        self._made.append((node, made))
        return made

    @singledispatchmethod
    def _planned(self, node: logical.LogicalNode) -> PhysicalNode:
        raise UnsupportedError("is not supported yet", who=type(node).__name__)

    @_planned.register
    def _(self, node: logical.TableScan) -> PhysicalNode:
        return table_scan(node.table, self._connections.source, self._options)

    @_planned.register
    def _(self, node: logical.Values) -> PhysicalNode:
        return Values(node.rows, node.type)

    @_planned.register
    def _(self, node: logical.Project) -> PhysicalNode:
        below = node.input
        if isinstance(below, logical.Filter):
            return self._calc(below.input, node.expressions, below.condition, node.row)
        return self._calc(below, node.expressions, None, node.row)

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
        if condition is not None and not self._options.batch:
            refuse_ranks(below, condition)
        given = self.plan(below)
        found = over_scan(given, expressions, condition)
        if found is not None:
            given, expressions, condition = found
        if isinstance(given, TableSourceScan):
            if condition is not None:
                given, condition = sifted(given, condition, self._options.zone)
            given, expressions, condition = reading(given, Calc(given, expressions, condition, row))
        if isinstance(given, ChangelogNormalize):
            used = Calc(given, expressions, condition, row).used
            kept = narrowed(given, used)
            if kept is not None:
                given, read = kept
                places = {place: now for now, place in enumerate(read)}
                expressions = tuple(moved(one, places) for one in expressions)
                condition = None if condition is None else moved(condition, places)
        if isinstance(given, ChangelogNormalize) and condition is not None:
            given, condition = filtered(given, condition)
        calc = Calc(given, expressions, condition, row)
        return given if calc.changes_nothing else calc

    @_planned.register
    def _(self, node: logical.Watermark) -> PhysicalNode:
        below = self.plan(node.input)
        if self._options.batch:
            return below

        def assigned(given: PhysicalNode, row: RowType) -> PhysicalNode:
            fields = (*node.type.fields, *row.fields[len(node.type.fields) :])
            return WatermarkAssigner(given, node.column, node.expression, RowType(fields, nullable=False))

        return with_watermarks(below, assigned)

    @_planned.register
    def _(self, node: derived.Expand) -> PhysicalNode:
        return Expand(self.plan(node.input), node.keys, node.sets, node.numbers, node.type)

    @_planned.register
    def _(self, node: logical.UnionAll) -> PhysicalNode:
        return Union(tuple(map(self.plan, node.parts)), node.type)

    @_planned.register
    def _(self, node: Join) -> PhysicalNode:
        return join_node(node, self.plan(node.left), self.plan(node.right), self._options)

    @_planned.register
    def _(self, node: TemporalJoin) -> PhysicalNode:
        left = self.plan(node.left)
        if node.looks_up:
            return lookup_join_node(node, left, self._connections.lookup, self._options)
        return temporal_join_node(node, left, self.plan(node.right), self._options)

    @_planned.register
    def _(self, node: VectorSearch) -> PhysicalNode:
        return vector_search_node(node, self.plan(node.input), self._connections.lookup)

    @_planned.register
    def _(self, node: Versions) -> PhysicalNode:
        return versions_node(node, self.plan(node.input))

    @_planned.register
    def _(self, node: Correlate) -> PhysicalNode:
        return correlates.Correlate(
            self.plan(node.input),
            node.function,
            node.arguments,
            node.kept,
            node.type,
            node.keeps,
            node.condition,
        )

    @_planned.register
    def _(self, node: derived.PythonCalc) -> PhysicalNode:
        return correlates.PythonCalc(self.plan(node.input), node.calls, node.type)

    @_planned.register
    def _(self, node: logical.Replicate) -> PhysicalNode:
        return Replicate(self.plan(node.input))

    @_planned.register
    def _(self, node: logical.Aggregate) -> PhysicalNode:
        below = self.plan(node.input)
        given = below.row
        aggregate = Groups(
            input=given,
            output=node.type,
            keys=node.keys,
            aggregations=aggregations(node.calls, given, self._options.zone),
            time_to_live=self._time_to_live(node),
        )
        if not self._options.two_phase or any(call.user is not None for call in node.calls):
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
            window=assignment(node.window, node.input.row, self._options),
            aggregations=aggregations(node.calls, given, self._options.zone),
            properties=tuple(_PROPERTIES[name] for name in node.properties),
        )
        legacy = not isinstance(node, derived.WindowAggregate)
        if legacy or not self._options.two_phase or not has_two_phases(aggregate):
            return WindowAggregate(Exchange(below, node.keys), aggregate, legacy)
        local = WindowAggregate(below, aggregate, phase="local")
        return WindowAggregate(Exchange(local, tuple(range(len(node.keys)))), aggregate, phase="global")

    @_planned.register
    def _(self, node: logical.WindowTable) -> PhysicalNode:
        below = self.plan(node.input)
        window = assignment(node.window, node.input.row, self._options)
        if self._options.batch:
            _require_aligned(window)
        partition = node.window.partition if isinstance(node.window, Session) else ()
        table = WindowRows(below.row, node.type, window, partition)
        if window.shape.kind == "session":
            below = Exchange(below, partition)
        return WindowTableFunction(below, table)

    @_planned.register
    def _(self, node: ToChangelog) -> PhysicalNode:
        return changelogs.ToChangelog(self.plan(node.input), Rows(node.row, node.codes))

    @_planned.register
    def _(self, node: FromChangelog) -> PhysicalNode:
        below = self.plan(node.input)
        return changelogs.FromChangelog(below, Said(below.row, node.op, node.codes))

    @_planned.register
    def _(self, node: ProcessTable) -> PhysicalNode:
        return process_table(node, tuple(map(self.plan, node.parts)), self._options)

    @_planned.register
    def _(self, node: logical.Over) -> PhysicalNode:
        below = Exchange(self.plan(node.input), node.partition)
        if self._options.batch:
            return OverPartitions(below, over_partitions(node, self._options.zone))
        if waits_for_time(node, changes_of(below)):
            return OverAggregate(below, over_aggregate(node, self._options))
        return OverChanges(below, over_changes(node, self._options))

    @_planned.register
    def _(self, node: derived.Rank) -> PhysicalNode:
        plan = window_rank if ranks_windows(node) else rank_node
        return plan(node, self.plan(node.input), self._options)

    @_planned.register
    def _(self, node: MatchRecognize) -> PhysicalNode:
        return match_node(node, self.plan(node.input), batch=self._options.batch)

    @_planned.register
    def _(self, node: logical.Sort) -> PhysicalNode:
        below = self.plan(node.input)
        if self._options.batch and not node.order and node.fetch is not None:
            below = limited(below, node.offset + node.fetch)
        return sorting(node, Exchange(below, ()), batch=self._options.batch)

    @_planned.register
    def _(self, node: logical.TableSink) -> PhysicalNode:
        table = node.table
        title = shown_name(table)
        written = [table.written[place].name for place in delivery_order(table.written)]
        named = table.primary_key
        key = None if named is None else tuple(map(written.index, named))
        given, order = self.plan(node.input), delivery_order(table.written)
        if order != tuple(range(len(order))):
            given = reordered(given, order)
        fields = tuple(Field(table.written[place].name, table.written[place].type) for place in order)
        options, sink = self._options.sinks, self._connections.sink(table)
        if node.overwrite:
            sink = overwriting(sink, title, batch=self._options.batch)
        fitting = constrained(given, RowType(fields, nullable=False), options)
        together = tuple(map(written.index, sink.distribution))
        return Sink(
            Exchange(fitting, together) if together else fitting,
            sink,
            title,
            f"Table sink '{title}'",
            key,
            node.conflict,
            options,
            target=table,
            overwrites=node.overwrite,
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


def _require_aligned(window: WindowAssignment) -> None:
    """Refuse the window table functions that Flink has in STREAMING mode only."""
    if window.shape.kind == "session":
        raise UnsupportedError(
            "is not supported in BATCH mode, as in Flink", who="Window table function SESSION"
        )
    if not window.event_time:
        raise UnsupportedError(
            "is not supported in BATCH mode, as in Flink", who="Processing time window table function"
        )


def aggregations(calls: tuple[AggregateCall, ...], given: RowType, zone: str) -> tuple[Aggregation, ...]:
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
            user=call.user,
            zone=zone,
        )
        for call in calls
    )
