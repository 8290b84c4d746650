"""The operation of each physical node."""

from __future__ import annotations

from functools import singledispatch

from firesteel.common.logical_types import Field, RowType
from firesteel.common.logical_types.temporal import is_rowtime
from firesteel.connectors.tables.values import values_source
from firesteel.functions.columns import ranks
from firesteel.functions.columns import sorting as limits
from firesteel.functions.columns.program import Program
from firesteel.graph.operations import (
    CalcOp,
    ColumnSinkOp,
    ColumnSourceOp,
    ConstraintOp,
    CorrelateOp,
    ExpandOp,
    FirstRowOp,
    FromChangelogOp,
    GlobalAggregateOp,
    GlobalWindowAggregateOp,
    GroupAggregateOp,
    HashJoinOp,
    IntervalJoinOp,
    JoinOp,
    LimitOp,
    LocalWindowAggregateOp,
    LookupJoinOp,
    MatchRecognizeOp,
    MaterializeOp,
    NormalizeOp,
    Operation,
    OverAggregateOp,
    OverPartitionsOp,
    PythonCalcOp,
    RankOp,
    ReplicateOp,
    SortOp,
    TemporalJoinOp,
    TemporalSortOp,
    ToChangelogOp,
    TopOp,
    UpdateBeforeOp,
    VectorSearchOp,
    VersionsOp,
    WatermarkOp,
    WindowAggregateOp,
    WindowJoinOp,
    WindowRankOp,
    WindowTableOp,
)
from firesteel.relational.expressions import InputRef
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.changelogs import FromChangelog, ToChangelog
from firesteel.relational.physical.correlates import Correlate, PythonCalc
from firesteel.relational.physical.grouping import (
    GroupAggregate,
    OverAggregate,
    OverPartitions,
    WindowAggregate,
    WindowTableFunction,
)
from firesteel.relational.physical.joins import Join
from firesteel.relational.physical.lookup_joins import LookupJoin
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import (
    Calc,
    DropUpdateBefore,
    Exchange,
    Expand,
    Replicate,
    Values,
    WatermarkAssigner,
)
from firesteel.relational.physical.normalizing import ChangelogNormalize
from firesteel.relational.physical.ranks import Rank
from firesteel.relational.physical.row_patterns import Match
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.sinks import ConstraintEnforcer, Sink, SinkMaterializer
from firesteel.relational.physical.sorting import Limit, Sort, TemporalSort
from firesteel.relational.physical.temporal_joins import TemporalJoin, Versions
from firesteel.relational.physical.timed_joins import IntervalJoin, WindowJoin
from firesteel.relational.physical.vector_search import VectorSearchTableFunction
from firesteel.relational.physical.window_ranks import WindowRank
from firesteel.relational.to_graph.aggregating import local_aggregate
from firesteel.relational.to_graph.row_patterns import match_recognize
from firesteel.relational.to_graph.watermarks import scanned_by_split, watermark_assignment
from firesteel.relational.translation import program


@singledispatch
def operation(plan: PhysicalNode, options: PlanOptions) -> Operation:
    """Return the operation of a node, which is neither an exchange nor a union."""
    raise AssertionError(f"no operation for {plan.name}")


@operation.register
def _(plan: TableSourceScan, options: PlanOptions) -> Operation:
    if plan.source is None:
        given = RowType(tuple(Field(column.name, column.type) for column in plan.table.read), nullable=False)
        read = [InputRef(plan.table.read[place].type, place) for place in plan.columns]
        return CalcOp(program(given, read, plan.row.field_names, zone=options.zone))
    return ColumnSourceOp(plan.source.source.prepared())


@operation.register
def _(plan: Sink, options: PlanOptions) -> Operation:
    return ColumnSinkOp(plan.sink.sink)


@operation.register
def _(plan: ConstraintEnforcer, options: PlanOptions) -> Operation:
    return ConstraintOp(plan.constraints)


@operation.register
def _(plan: SinkMaterializer, options: PlanOptions) -> Operation:
    return MaterializeOp(plan.materialization)


@operation.register
def _(plan: Values, options: PlanOptions) -> Operation:
    rows = [tuple(literal.value for literal in row) for row in plan.rows]
    return ColumnSourceOp(values_source(plan.row, rows))


@operation.register
def _(plan: Calc, options: PlanOptions) -> Operation:
    return CalcOp(_calculated(plan, options))


@operation.register
def _(plan: Expand, options: PlanOptions) -> Operation:
    given, names = plan.input.row, plan.row.field_names
    return ExpandOp(
        tuple(program(given, columns, names, None, options.zone) for columns in plan.projections())
    )


@operation.register
def _(plan: Replicate, options: PlanOptions) -> Operation:
    return ReplicateOp()


@operation.register
def _(plan: Correlate, options: PlanOptions) -> Operation:
    return CorrelateOp(plan.correlate(options.zone))


@operation.register
def _(plan: PythonCalc, options: PlanOptions) -> Operation:
    return PythonCalcOp(plan.calc(options))


@operation.register
def _(plan: WatermarkAssigner, options: PlanOptions) -> Operation:
    assignment = watermark_assignment(plan, options)
    found = scanned_by_split(plan, options)
    if found is None:
        return WatermarkOp(assignment)
    assert found.scan.source is not None
    computed = None if found.calc is None else _calculated(found.calc, options)
    source = found.scan.source.source.prepared()
    return ColumnSourceOp(source, assignment=assignment, program=computed)


@operation.register
def _(plan: GroupAggregate, options: PlanOptions) -> Operation:
    if plan.phase == "local":
        return local_aggregate(plan, options)
    return {"single": GroupAggregateOp, "global": GlobalAggregateOp}[plan.phase](plan.aggregate)


@operation.register
def _(plan: WindowAggregate, options: PlanOptions) -> Operation:
    kinds = {"single": WindowAggregateOp, "local": LocalWindowAggregateOp, "global": GlobalWindowAggregateOp}
    return kinds[plan.phase](plan.aggregate)


@operation.register
def _(plan: WindowTableFunction, options: PlanOptions) -> Operation:
    return WindowTableOp(plan.table)


@operation.register
def _(plan: OverAggregate, options: PlanOptions) -> Operation:
    return OverAggregateOp(plan.over)


@operation.register
def _(plan: OverPartitions, options: PlanOptions) -> Operation:
    return OverPartitionsOp(plan.over)


@operation.register
def _(plan: Match, options: PlanOptions) -> Operation:
    return MatchRecognizeOp(match_recognize(plan, options))


@operation.register
def _(plan: Join, options: PlanOptions) -> Operation:
    if plan.build is None:
        return JoinOp(plan.join(options.zone))
    stays = plan.inputs[plan.build]
    first = isinstance(stays, Exchange) and not stays.kept
    return HashJoinOp(plan.join(options.zone), plan.build, first)


@operation.register
def _(plan: IntervalJoin, options: PlanOptions) -> Operation:
    return IntervalJoinOp(plan.interval_join(options.zone))


@operation.register
def _(plan: TemporalJoin, options: PlanOptions) -> Operation:
    return TemporalJoinOp(plan.temporal_join(options.zone))


@operation.register
def _(plan: LookupJoin, options: PlanOptions) -> Operation:
    return LookupJoinOp(plan.lookup_join(options.zone))


@operation.register
def _(plan: VectorSearchTableFunction, options: PlanOptions) -> Operation:
    return VectorSearchOp(plan.vector_search(options.zone))


@operation.register
def _(plan: Versions, options: PlanOptions) -> Operation:
    return VersionsOp(plan.versions)


@operation.register
def _(plan: WindowJoin, options: PlanOptions) -> Operation:
    return WindowJoinOp(plan.window_join(options.zone))


@operation.register
def _(plan: WindowRank, options: PlanOptions) -> Operation:
    return WindowRankOp(plan.rank)


@operation.register
def _(plan: Rank, options: PlanOptions) -> Operation:
    first = plan.first_row()
    return RankOp(plan.operation()) if first is None else FirstRowOp(first)


@operation.register
def _(plan: ToChangelog, options: PlanOptions) -> Operation:
    return ToChangelogOp(plan.spec)


@operation.register
def _(plan: FromChangelog, options: PlanOptions) -> Operation:
    return FromChangelogOp(plan.spec)


@operation.register
def _(plan: ChangelogNormalize, options: PlanOptions) -> Operation:
    return NormalizeOp(plan.operation(options.zone))


@operation.register
def _(plan: Limit, options: PlanOptions) -> Operation:
    if plan.input.mode.append_only:
        return LimitOp(limits.Limit(plan.offset, plan.fetch))
    return _top(plan, (), options)


@operation.register
def _(plan: Sort, options: PlanOptions) -> Operation:
    if options.batch:
        return SortOp(limits.Sort(plan.row, plan.order, plan.offset, plan.fetch))
    return _top(plan, plan.order, options)


@operation.register
def _(plan: TemporalSort, options: PlanOptions) -> Operation:
    time, *others = plan.order
    event_time = is_rowtime(plan.row.fields[time.column].type)
    return TemporalSortOp(limits.TemporalSort(plan.row, time.column if event_time else None, tuple(others)))


def _top(plan: Limit, order: tuple[limits.SortColumn, ...], options: PlanOptions) -> Operation:
    assert plan.fetch is not None
    retracts = not plan.input.mode.append_only
    if options.state_ttl is not None:
        rank = ranks.Rank(
            plan.row,
            plan.row,
            (),
            order,
            "ROW_NUMBER",
            plan.offset + 1,
            plan.offset + plan.fetch,
            shows=False,
            retracts=retracts,
            time_to_live=options.state_ttl,
        )
        return RankOp(rank)
    return TopOp(limits.Top(plan.row, order, plan.offset, plan.fetch, retracts))


@operation.register
def _(plan: DropUpdateBefore, options: PlanOptions) -> Operation:
    return UpdateBeforeOp(plan.as_delete)


def _calculated(plan: Calc, options: PlanOptions) -> Program:
    return program(plan.input.row, plan.expressions, plan.row.field_names, plan.condition, options.zone)
