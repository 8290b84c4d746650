"""Recipes of the operations on columns."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.functions.columns.endpoints import ColumnSink, ColumnSource
from firesteel.functions.columns.keeping import KeptRows
from firesteel.graph import Node
from firesteel.graph.operations import (
    CalcOp,
    ColumnSinkOp,
    ColumnSourceOp,
    ColumnsToRowsOp,
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
    LocalAggregateOp,
    LocalWindowAggregateOp,
    LookupJoinOp,
    MatchRecognizeOp,
    MaterializeOp,
    NormalizeOp,
    OverAggregateOp,
    OverPartitionsOp,
    PythonCalcOp,
    RankOp,
    ReplicateOp,
    RowsToColumnsOp,
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
from firesteel.runtime.columns.aggregates.computed import ComputedLocalAggregateOperator
from firesteel.runtime.columns.aggregates.operators import (
    FinalAggregateOperator,
    GroupAggregateOperator,
    LocalAggregateOperator,
)
from firesteel.runtime.columns.bridges import ColumnsToRowsOperator, RowsToColumnsOperator
from firesteel.runtime.columns.calc import CalcOperator
from firesteel.runtime.columns.changelogs import FromChangelogOperator, ToChangelogOperator
from firesteel.runtime.columns.constraints import ConstraintOperator
from firesteel.runtime.columns.correlate import CorrelateOperator
from firesteel.runtime.columns.expand import ExpandOperator
from firesteel.runtime.columns.first_rows import FirstRowOperator
from firesteel.runtime.columns.joins.hashed import HashJoinOperator
from firesteel.runtime.columns.joins.interval import interval_join_operator
from firesteel.runtime.columns.joins.operator import FinalJoinOperator, JoinOperator
from firesteel.runtime.columns.joins.windows import WindowJoinOperator
from firesteel.runtime.columns.keeping import KeepingOperator
from firesteel.runtime.columns.lookups.operator import LookupJoinOperator
from firesteel.runtime.columns.lookups.searching import VectorSearchOperator
from firesteel.runtime.columns.matching.operator import MatchOperator
from firesteel.runtime.columns.materialize.operators import CompactingOperator, MaterializeOperator
from firesteel.runtime.columns.normalizing import NormalizeOperator
from firesteel.runtime.columns.over.batch import OverPartitionsOperator
from firesteel.runtime.columns.over.changes import OverChangesOperator
from firesteel.runtime.columns.over.operator import OverAggregateOperator
from firesteel.runtime.columns.ranks import RankOperator
from firesteel.runtime.columns.replicate import ReplicateOperator
from firesteel.runtime.columns.scalar_functions import PythonCalcOperator
from firesteel.runtime.columns.sink import ColumnSinkOperator
from firesteel.runtime.columns.sorting import LimitOperator, SortOperator
from firesteel.runtime.columns.source import ColumnSourceOperator
from firesteel.runtime.columns.temporal_joins.operator import TemporalJoinOperator
from firesteel.runtime.columns.temporal_joins.versions import VersionsOperator
from firesteel.runtime.columns.temporal_sort import TemporalSortOperator
from firesteel.runtime.columns.top import TopOperator
from firesteel.runtime.columns.update_before import UpdateBeforeOperator
from firesteel.runtime.columns.watermarks import WatermarkOperator
from firesteel.runtime.columns.windows.choosing import (
    local_window_operator,
    window_aggregate_operator,
    window_table_operator,
)
from firesteel.runtime.columns.windows.ranks import WindowRankOperator


@recipe.register
def _(operation: ColumnSourceOp, node: Node, batch: bool) -> Recipe:
    assert isinstance(operation.source, ColumnSource)
    return partial(ColumnSourceOperator, operation.source, operation.assignment, operation.program)


@recipe.register
def _(operation: ColumnSinkOp, node: Node, batch: bool) -> Recipe:
    assert isinstance(operation.sink, ColumnSink)
    if isinstance(operation.sink, KeptRows):
        return partial(KeepingOperator, operation.sink)
    return partial(ColumnSinkOperator, operation.sink)


@recipe.register
def _(operation: RowsToColumnsOp, node: Node, batch: bool) -> Recipe:
    return partial(RowsToColumnsOperator, operation.bridge)


@recipe.register
def _(operation: ColumnsToRowsOp, node: Node, batch: bool) -> Recipe:
    return partial(ColumnsToRowsOperator, operation.bridge)


@recipe.register
def _(operation: CalcOp, node: Node, batch: bool) -> Recipe:
    return partial(CalcOperator, operation.program)


@recipe.register
def _(operation: ExpandOp, node: Node, batch: bool) -> Recipe:
    return partial(ExpandOperator, operation.programs)


@recipe.register
def _(operation: ReplicateOp, node: Node, batch: bool) -> Recipe:
    return ReplicateOperator


@recipe.register
def _(operation: CorrelateOp, node: Node, batch: bool) -> Recipe:
    return partial(CorrelateOperator, operation.correlate)


@recipe.register
def _(operation: PythonCalcOp, node: Node, batch: bool) -> Recipe:
    return partial(PythonCalcOperator, operation.calc)


@recipe.register
def _(operation: WatermarkOp, node: Node, batch: bool) -> Recipe:
    return partial(WatermarkOperator, operation.assignment)


@recipe.register
def _(operation: GroupAggregateOp, node: Node, batch: bool) -> Recipe:
    return partial(_groups_operator(batch), operation.aggregate)


@recipe.register
def _(operation: LocalAggregateOp, node: Node, batch: bool) -> Recipe:
    if operation.program is not None:
        return partial(ComputedLocalAggregateOperator, operation.aggregate, operation.program)
    return partial(LocalAggregateOperator, operation.aggregate)


@recipe.register
def _(operation: GlobalAggregateOp, node: Node, batch: bool) -> Recipe:
    return partial(_groups_operator(batch), operation.aggregate, partial=True)


@recipe.register
def _(operation: WindowAggregateOp, node: Node, batch: bool) -> Recipe:
    return partial(window_aggregate_operator, operation.aggregate)


@recipe.register
def _(operation: LocalWindowAggregateOp, node: Node, batch: bool) -> Recipe:
    return partial(local_window_operator, operation.aggregate)


@recipe.register
def _(operation: GlobalWindowAggregateOp, node: Node, batch: bool) -> Recipe:
    return partial(window_aggregate_operator, operation.aggregate, partial=True)


@recipe.register
def _(operation: WindowTableOp, node: Node, batch: bool) -> Recipe:
    return partial(window_table_operator, operation.table)


@recipe.register
def _(operation: OverAggregateOp, node: Node, batch: bool) -> Recipe:
    return partial(OverAggregateOperator, operation.over)


@recipe.register
def _(operation: OverPartitionsOp, node: Node, batch: bool) -> Recipe:
    return partial(OverPartitionsOperator if batch else OverChangesOperator, operation.over)


@recipe.register
def _(operation: JoinOp, node: Node, batch: bool) -> Recipe:
    return partial(FinalJoinOperator if batch else JoinOperator, operation.join)


@recipe.register
def _(operation: HashJoinOp, node: Node, batch: bool) -> Recipe:
    return partial(HashJoinOperator, operation.join, operation.build, first=operation.first)


@recipe.register
def _(operation: IntervalJoinOp, node: Node, batch: bool) -> Recipe:
    return partial(interval_join_operator, operation.interval)


@recipe.register
def _(operation: TemporalJoinOp, node: Node, batch: bool) -> Recipe:
    return partial(TemporalJoinOperator, operation.temporal)


@recipe.register
def _(operation: LookupJoinOp, node: Node, batch: bool) -> Recipe:
    return partial(LookupJoinOperator, operation.join)


@recipe.register
def _(operation: VectorSearchOp, node: Node, batch: bool) -> Recipe:
    return partial(VectorSearchOperator, operation.search)


@recipe.register
def _(operation: VersionsOp, node: Node, batch: bool) -> Recipe:
    return partial(VersionsOperator, operation.versions)


@recipe.register
def _(operation: WindowJoinOp, node: Node, batch: bool) -> Recipe:
    return partial(WindowJoinOperator, operation.window)


@recipe.register
def _(operation: WindowRankOp, node: Node, batch: bool) -> Recipe:
    return partial(WindowRankOperator, operation.window)


@recipe.register
def _(operation: FirstRowOp, node: Node, batch: bool) -> Recipe:
    return partial(FirstRowOperator, operation.first)


@recipe.register
def _(operation: RankOp, node: Node, batch: bool) -> Recipe:
    return partial(RankOperator, operation.rank)


@recipe.register
def _(operation: MatchRecognizeOp, node: Node, batch: bool) -> Recipe:
    return partial(MatchOperator, operation.match)


@recipe.register
def _(operation: ToChangelogOp, node: Node, batch: bool) -> Recipe:
    return partial(ToChangelogOperator, operation.function)


@recipe.register
def _(operation: FromChangelogOp, node: Node, batch: bool) -> Recipe:
    return partial(FromChangelogOperator, operation.function)


@recipe.register
def _(operation: NormalizeOp, node: Node, batch: bool) -> Recipe:
    return partial(NormalizeOperator, operation.normalization)


@recipe.register
def _(operation: SortOp, node: Node, batch: bool) -> Recipe:
    return partial(SortOperator, operation.sort)


@recipe.register
def _(operation: LimitOp, node: Node, batch: bool) -> Recipe:
    return partial(LimitOperator, operation.limit)


@recipe.register
def _(operation: TopOp, node: Node, batch: bool) -> Recipe:
    return partial(TopOperator, operation.top)


@recipe.register
def _(operation: TemporalSortOp, node: Node, batch: bool) -> Recipe:
    return partial(TemporalSortOperator, operation.sort)


@recipe.register
def _(operation: UpdateBeforeOp, node: Node, batch: bool) -> Recipe:
    return partial(UpdateBeforeOperator, as_delete=operation.as_delete)


@recipe.register
def _(operation: ConstraintOp, node: Node, batch: bool) -> Recipe:
    return partial(ConstraintOperator, operation.constraints)


@recipe.register
def _(operation: MaterializeOp, node: Node, batch: bool) -> Recipe:
    spec = operation.materialization
    operator = MaterializeOperator if spec.conflict == "DEDUPLICATE" else CompactingOperator
    return partial(operator, spec)


def _groups_operator(batch: bool) -> type[GroupAggregateOperator | FinalAggregateOperator]:
    return FinalAggregateOperator if batch else GroupAggregateOperator
