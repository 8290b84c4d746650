"""All function classes, and their arguments."""

from __future__ import annotations

from typing import Any

from firesteel.datastream.unsupported import gap
from firesteel.functions.async_functions import (
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from firesteel.functions.base import Function, KeyedStateStore, RuntimeContext
from firesteel.functions.broadcast import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
)
from firesteel.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)
from firesteel.functions.elements import (
    AggregateFunction,
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    Partitioner,
    ReduceFunction,
)
from firesteel.functions.process import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
    TimerService,
)
from firesteel.functions.window_functions import (
    AllWindowFunction,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)

__all__ = [
    "RuntimeContext",
    "KeyedStateStore",
    "Function",
    "MapFunction",
    "CoMapFunction",
    "FlatMapFunction",
    "CoFlatMapFunction",
    "ReduceFunction",
    "AggregateFunction",
    "KeySelector",
    "NullByteKeySelector",
    "FilterFunction",
    "Partitioner",
    "SourceFunction",
    "SinkFunction",
    "ProcessFunction",
    "CoProcessFunction",
    "KeyedProcessFunction",
    "KeyedCoProcessFunction",
    "TimerService",
    "WindowFunction",
    "AllWindowFunction",
    "PassThroughWindowFunction",
    "PassThroughAllWindowFunction",
    "ProcessWindowFunction",
    "ProcessAllWindowFunction",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "KeyedBroadcastProcessFunction",
    "AsyncFunction",
    "AsyncFunctionDescriptor",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "CheckpointedFunction",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
]


class SourceFunction(Function):
    """Not supported: see `firesteel.functions.source.Source` to write your own sources."""

    @gap("pyflink.datastream.SourceFunction")
    def __init__(self, source_func: Any) -> None: ...

    @gap("pyflink.datastream.SourceFunction.get_java_function")
    def get_java_function(self) -> None: ...


class SinkFunction(Function):
    """Not supported: see `firesteel.functions.sink.Sink` to write your own sinks."""

    @gap("pyflink.datastream.SinkFunction")
    def __init__(self, sink_func: Any) -> None: ...

    @gap("pyflink.datastream.SinkFunction.get_java_function")
    def get_java_function(self) -> None: ...
