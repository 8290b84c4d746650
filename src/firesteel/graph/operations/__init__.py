"""The operations of nodes: one frozen class per kind, one file per family."""

from firesteel.graph.operations.columns import (
    CalcOp,
    ColumnOperation,
    ColumnSinkOp,
    ColumnSourceOp,
    GlobalAggregateOp,
    GroupAggregateOp,
    LocalAggregateOp,
    OverAggregateOp,
    WindowAggregateOp,
    WindowTableOp,
)
from firesteel.graph.operations.connected import (
    BroadcastProcessOp,
    CoFlatMapOp,
    CoMapOp,
    CoProcessOp,
    KeyedBroadcastProcessOp,
    KeyedCoProcessOp,
)
from firesteel.graph.operations.endpoints import SinkOp, SourceOp, TimestampsOp
from firesteel.graph.operations.operation import Operation
from firesteel.graph.operations.rows import (
    AggregateFieldOp,
    AsyncOp,
    FieldMethod,
    FilterOp,
    FlatMapOp,
    KeyedProcessOp,
    MapOp,
    ProcessOp,
    ProjectOp,
    ReduceOp,
)
from firesteel.graph.operations.windows import WindowMode, WindowOp

__all__ = [
    "AggregateFieldOp",
    "AsyncOp",
    "BroadcastProcessOp",
    "CalcOp",
    "CoFlatMapOp",
    "CoMapOp",
    "CoProcessOp",
    "ColumnOperation",
    "ColumnSinkOp",
    "ColumnSourceOp",
    "FieldMethod",
    "FilterOp",
    "FlatMapOp",
    "GlobalAggregateOp",
    "GroupAggregateOp",
    "KeyedBroadcastProcessOp",
    "KeyedCoProcessOp",
    "KeyedProcessOp",
    "LocalAggregateOp",
    "MapOp",
    "Operation",
    "OverAggregateOp",
    "ProcessOp",
    "ProjectOp",
    "ReduceOp",
    "SinkOp",
    "SourceOp",
    "TimestampsOp",
    "WindowAggregateOp",
    "WindowMode",
    "WindowOp",
    "WindowTableOp",
]
