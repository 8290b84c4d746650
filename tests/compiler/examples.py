"""A node of every operation, behind a source of two subtasks."""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.logical_types import BigIntType, RowType
from firesteel.common.types import RowKind
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.connectors.collection import CollectionSource
from firesteel.connectors.discard import DiscardingSink
from firesteel.connectors.tables.collect import CollectTableSink
from firesteel.connectors.tables.python_table import PythonLookup
from firesteel.connectors.tables.source_lookup import SourceLookup
from firesteel.connectors.tables.values import values_source
from firesteel.functions.adapt import CallableFunction
from firesteel.functions.assigners import TumblingEventTimeWindows
from firesteel.functions.async_functions import NO_RETRY_STRATEGY, AsyncFunction
from firesteel.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.functions.columns.bridges import ColumnsToRows, RowsToColumns
from firesteel.functions.columns.changelogs import FromChangelog, ToChangelog
from firesteel.functions.columns.correlates import Correlate, Unnest
from firesteel.functions.columns.joins import IntervalJoin, Join, WindowJoin
from firesteel.functions.columns.lookups import FullCache, LookupJoin, LookupTable
from firesteel.functions.columns.normalizing import Normalization
from firesteel.functions.columns.program import Formula, Program
from firesteel.functions.columns.python_functions import PythonCalc
from firesteel.functions.columns.ranks import FirstRow, Rank, WindowRank
from firesteel.functions.columns.row_patterns import MatchRecognize, PatternStep, RowPattern
from firesteel.functions.columns.sinks import Constraints, Materialization
from firesteel.functions.columns.sorting import Limit, Sort, SortColumn, TemporalSort, Top
from firesteel.functions.columns.temporal_joins import TemporalJoin, Versions
from firesteel.functions.columns.vectors import VectorSearch
from firesteel.functions.columns.windows import (
    OverAggregate,
    OverFrame,
    OverPartitions,
    WatermarkAssignment,
    WindowAggregate,
    WindowAssignment,
    WindowShape,
    WindowTable,
)
from firesteel.functions.elements import CoFlatMapFunction, CoMapFunction
from firesteel.functions.patterns.definition import ConsumingStrategy, PatternDefinition, Quantifier, Step
from firesteel.functions.patterns.processors import NamedPattern, PatternProcessor, PatternSource
from firesteel.functions.patterns.results import Selecting
from firesteel.functions.process import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from firesteel.functions.triggers import EventTimeTrigger
from firesteel.graph import Edge, Graph, Location, Node, operations
from firesteel.graph.nodes import Broadcast, Global, KeyBy, KeyColumns
from firesteel.graph.operations import Operation
from firesteel.relational.logical.joins import joined_row
from tests.compiler.graph_text import parse

SOURCE: Final = "numbers: source parallelism=2"
PLAIN: Final = (Edge(0),)
KEYED: Final = (Edge(0, KeyBy(str)),)
BROADCAST: Final = (Edge(0, Broadcast()),)


class Both(CoMapFunction, CoFlatMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    map2 = flat_map1 = flat_map2 = map1


class Process(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class KeyedProcess(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class CoProcess(CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    process_element2 = process_element1


class KeyedCoProcess(KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    process_element2 = process_element1


class Rules(BroadcastProcessFunction[Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    process_broadcast_element = process_element


class KeyedRules(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    process_broadcast_element = process_element


class Ask(AsyncFunction[Any, Any]):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [value]


ROW: Final = RowType.of({"k": BigIntType(), "n": BigIntType()}, nullable=False)
BY_COLUMN: Final = (Edge(0, KeyColumns(("k",))),)
PASSED_ON: Final = Program(
    ROW,
    ROW,
    tuple(Formula(f'"{place}"', field.name, field.type, place) for place, field in enumerate(ROW.fields)),
)
GROUPS: Final = GroupAggregate(
    ROW, ROW, (0,), (Aggregation("SUM", (1,), (BigIntType(),), BigIntType(), "SUM(n)"),)
)


def assigned(kind: Any) -> WindowAssignment:
    return WindowAssignment(WindowShape(kind, 10, 10), time=0)


def windows(kind: Any) -> WindowAggregate:
    return WindowAggregate(ROW, ROW, (0,), assigned(kind), GROUPS.aggregations, ())


MATCH: Final = MatchRecognize(
    ROW,
    ROW,
    (0,),
    time=1,
    event_time=True,
    order=(),
    pattern=RowPattern((PatternStep("A"),)),
    events=Program(ROW, ROW, ()),
    kept=0,
    conditions=(),
    values=(),
    types=(),
    results=Program(ROW, ROW, ()),
)

WINDOW: Final = (TumblingEventTimeWindows(5, 0), EventTimeTrigger(), "reduce", max)

PATTERN: Final = PatternDefinition((Step("a", Quantifier(ConsumingStrategy.STRICT)),))
MATCHES: Final = Selecting(CallableFunction(len, "select"), len, flat=False)

NAMED: Final = NamedPattern(PATTERN, MATCHES)


class OnePattern(PatternSource):
    def read(self, value: Any, who: str) -> PatternProcessor:
        return PatternProcessor(str(value), 1, "")

    def named(self, processor: PatternProcessor, who: str) -> NamedPattern:
        return NAMED


EXAMPLES: Final[list[tuple[Operation, tuple[tuple[Edge, ...], ...]]]] = [
    (operations.SourceOp(CollectionSource([1])), ()),
    (operations.MapOp(str), (PLAIN,)),
    (operations.FlatMapOp(list), (KEYED,)),
    (operations.FilterOp(bool), (PLAIN,)),
    (operations.ProjectOp((0,)), (PLAIN,)),
    (operations.ProcessOp(Process()), (PLAIN,)),
    (operations.KeyedProcessOp(KeyedProcess()), (KEYED,)),
    (operations.ReduceOp(max), (KEYED,)),
    (operations.AggregateFieldOp("sum", 0), (KEYED,)),
    (operations.AsyncOp(Ask(), 1000, 2, True, NO_RETRY_STRATEGY), (PLAIN,)),
    (operations.CoMapOp(Both()), (PLAIN, PLAIN)),
    (operations.CoFlatMapOp(Both()), (KEYED, KEYED)),
    (operations.CoProcessOp(CoProcess()), (PLAIN, PLAIN)),
    (operations.KeyedCoProcessOp(KeyedCoProcess()), (KEYED, KEYED)),
    (operations.BroadcastProcessOp(Rules(), ()), (PLAIN, BROADCAST)),
    (operations.KeyedBroadcastProcessOp(KeyedRules(), ()), (KEYED, BROADCAST)),
    (operations.WindowOp(*WINDOW), (KEYED,)),
    (operations.WindowOp(*WINDOW, by_key=False), ((Edge(0, Global()),),)),
    (operations.PatternOp(PATTERN, MATCHES), (KEYED,)),
    (operations.PatternOp(PATTERN, MATCHES, by_key=False), ((Edge(0, Global()),),)),
    (operations.ManyPatternsOp({"a": NAMED}), (KEYED,)),
    (operations.DynamicPatternsOp(OnePattern()), (KEYED, BROADCAST)),
    (operations.TimestampsOp(WatermarkStrategy.no_watermarks()), (PLAIN,)),
    (operations.SinkOp(DiscardingSink()), (PLAIN,)),
    (operations.ColumnSourceOp(values_source(ROW, [(1, 2)])), ()),
    (operations.CalcOp(Program(ROW, ROW, ())), (PLAIN,)),
    (operations.RowsToColumnsOp(RowsToColumns(ROW, (0,))), (PLAIN,)),
    (operations.ColumnsToRowsOp(ColumnsToRows(ROW)), (PLAIN,)),
    (operations.ExpandOp((Program(ROW, ROW, ()),)), (PLAIN,)),
    (operations.WatermarkOp(WatermarkAssignment(0, 0)), (PLAIN,)),
    (operations.LocalAggregateOp(GROUPS), (PLAIN,)),
    (operations.LocalAggregateOp(GROUPS, PASSED_ON), (PLAIN,)),
    (operations.GroupAggregateOp(GROUPS), (BY_COLUMN,)),
    (operations.GlobalAggregateOp(GROUPS), (BY_COLUMN,)),
    (operations.WindowAggregateOp(windows("tumble")), (BY_COLUMN,)),
    (operations.WindowAggregateOp(windows("session")), (BY_COLUMN,)),
    (operations.LocalWindowAggregateOp(windows("hop")), (PLAIN,)),
    (operations.LocalWindowAggregateOp(windows("session")), (PLAIN,)),
    (operations.GlobalWindowAggregateOp(windows("hop")), (BY_COLUMN,)),
    (operations.GlobalWindowAggregateOp(windows("session")), (BY_COLUMN,)),
    (operations.WindowTableOp(WindowTable(ROW, ROW, assigned("hop"))), (PLAIN,)),
    (operations.WindowTableOp(WindowTable(ROW, ROW, assigned("session"))), (BY_COLUMN,)),
    (
        operations.OverAggregateOp(OverAggregate(ROW, ROW, (0,), 1, True, OverFrame(True, None), ())),
        (BY_COLUMN,),
    ),
    (operations.SortOp(Sort(ROW, (SortColumn(0, True, True),))), (PLAIN,)),
    (operations.LimitOp(Limit(0, 3)), (PLAIN,)),
    (operations.TopOp(Top(ROW, (SortColumn(0, True, True),), 0, 3)), (PLAIN,)),
    (operations.TemporalSortOp(TemporalSort(ROW, 1)), (PLAIN,)),
    (
        operations.RankOp(Rank(ROW, ROW, (0,), (SortColumn(1, True, True),), "RANK", 1, 3, shows=False)),
        (PLAIN,),
    ),
    (
        operations.WindowRankOp(
            WindowRank(
                Rank(ROW, ROW, (0,), (SortColumn(1, True, True),), "ROW_NUMBER", 1, 3, shows=False), 1, 1
            )
        ),
        (PLAIN,),
    ),
    (
        operations.WindowJoinOp(
            WindowJoin(Join("SEMI", ROW, ROW, ROW, (0,), (0,), (False,)), starts=(1, 1), ends=(1, 1))
        ),
        (PLAIN, PLAIN),
    ),
    (operations.ReplicateOp(), (PLAIN,)),
    (operations.CorrelateOp(Correlate(ROW, ROW, Unnest("ARRAY"), (1,), (0,))), (PLAIN,)),
    (operations.PythonCalcOp(PythonCalc(ROW, ROW, ())), (PLAIN,)),
    (
        operations.JoinOp(Join("INNER", ROW, ROW, joined_row(ROW, ROW, "INNER"), (0,), (0,), (False,))),
        (PLAIN, PLAIN),
    ),
    (
        operations.HashJoinOp(
            Join("INNER", ROW, ROW, joined_row(ROW, ROW, "INNER"), (0,), (0,), (False,)), build=1
        ),
        (PLAIN, BROADCAST),
    ),
    (
        operations.IntervalJoinOp(
            IntervalJoin(
                Join("INNER", ROW, ROW, joined_row(ROW, ROW, "INNER"), (0,), (0,), (False,)), -5, 5, (1, 1)
            )
        ),
        (PLAIN, PLAIN),
    ),
    (
        operations.TemporalJoinOp(
            TemporalJoin(Join("INNER", ROW, ROW, joined_row(ROW, ROW, "INNER"), (0,), (0,), (False,)), 1, 1)
        ),
        (BY_COLUMN, BY_COLUMN),
    ),
    (
        operations.LookupJoinOp(
            LookupJoin(
                Join("INNER", ROW, ROW, joined_row(ROW, ROW, "INNER")),
                LookupTable(PythonLookup(print, "key", ROW, ROW.field_names[:1], None, "table 't'")),
                ROW,
                tuple(range(len(ROW.fields))),
            )
        ),
        (PLAIN,),
    ),
    (
        operations.VectorSearchOp(
            VectorSearch(
                Join("INNER", ROW, ROW, joined_row(ROW, ROW, "INNER")),
                LookupTable(SourceLookup(values_source(ROW, [])), FullCache()),
                query=0,
                searched=0,
                most=1,
            )
        ),
        (PLAIN,),
    ),
    (operations.FirstRowOp(FirstRow(ROW, (0,), 1, 1000)), (BY_COLUMN,)),
    (operations.VersionsOp(Versions(ROW, (0,), 1)), (BY_COLUMN,)),
    (
        operations.OverPartitionsOp(OverPartitions(ROW, ROW, (0,), (SortColumn(1, True, True),), ())),
        (BY_COLUMN,),
    ),
    (operations.MatchRecognizeOp(MATCH), (BY_COLUMN,)),
    (operations.UpdateBeforeOp(True), (PLAIN,)),
    (operations.ToChangelogOp(ToChangelog(ROW, ((RowKind.INSERT, "I"),))), (PLAIN,)),
    (operations.FromChangelogOp(FromChangelog(ROW, 1, (("I", RowKind.INSERT),))), (PLAIN,)),
    (operations.NormalizeOp(Normalization(ROW, (0,), time_to_live=1000)), (BY_COLUMN,)),
    (operations.ConstraintOp(Constraints(ROW, (0,))), (PLAIN,)),
    (operations.MaterializeOp(Materialization(ROW, (0,), (1,), "DEDUPLICATE")), (BY_COLUMN,)),
    (operations.ColumnSinkOp(CollectTableSink("token")), (PLAIN,)),
]


def graph_of(operation: Operation, ports: tuple[tuple[Edge, ...], ...]) -> Graph:
    """A source, and a node of the operation that reads it."""
    source = parse(SOURCE).nodes[0]
    return Graph((source, Node(1, operation.kind, operation, ports, Location("job.py", 7))))
