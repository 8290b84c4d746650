"""The operations of nodes: one frozen class per kind, one file per family."""

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
    "CoFlatMapOp",
    "CoMapOp",
    "CoProcessOp",
    "FieldMethod",
    "FilterOp",
    "FlatMapOp",
    "KeyedBroadcastProcessOp",
    "KeyedCoProcessOp",
    "KeyedProcessOp",
    "MapOp",
    "Operation",
    "ProcessOp",
    "ProjectOp",
    "ReduceOp",
    "SinkOp",
    "SourceOp",
    "TimestampsOp",
    "WindowMode",
    "WindowOp",
]
