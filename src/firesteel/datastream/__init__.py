"""The DataStream API, with the names of pyflink.datastream.

>>> env = StreamExecutionEnvironment.get_execution_environment()
>>> _ = env.from_collection(["to", "be"]).map(str.upper).print()
"""

from __future__ import annotations

import firesteel.datastream.connectors  # noqa: F401 - fill_gaps looks at its classes
from firesteel.datastream.async_data_stream import AsyncDataStream
from firesteel.datastream.checkpoint_config import CheckpointConfig
from firesteel.datastream.checkpoint_storage import (
    CheckpointStorage,
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from firesteel.datastream.checkpointing_mode import CheckpointingMode
from firesteel.datastream.data_stream import (
    AllWindowedStream,
    BroadcastConnectedStream,
    BroadcastStream,
    ConnectedStreams,
    DataStream,
    DataStreamSink,
    KeyedStream,
    WindowedStream,
)
from firesteel.datastream.execution_mode import RuntimeExecutionMode
from firesteel.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from firesteel.datastream.functions import (
    AggregateFunction,
    AsyncFunction,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
    WindowFunction,
)
from firesteel.datastream.output_tag import OutputTag
from firesteel.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
from firesteel.datastream.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    PredefinedOptions,
    StateBackend,
)
from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
from firesteel.datastream.time_domain import TimeDomain
from firesteel.datastream.timerservice import TimerService
from firesteel.datastream.unsupported import explain_missing_modules, fill_gaps, missing_names
from firesteel.datastream.window import (
    CountWindow,
    GlobalWindow,
    MergingWindowAssigner,
    TimeWindow,
    Trigger,
    TriggerResult,
    Window,
    WindowAssigner,
)

__all__ = [
    "AsyncDataStream",
    "CheckpointConfig",
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
    "CheckpointingMode",
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
    "RuntimeExecutionMode",
    "ExternalizedCheckpointRetention",
    "AggregateFunction",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatMapFunction",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeySelector",
    "MapFunction",
    "Partitioner",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SinkFunction",
    "SourceFunction",
    "WindowFunction",
    "OutputTag",
    "MemorySize",
    "SlotSharingGroup",
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
    "StreamExecutionEnvironment",
    "TimeDomain",
    "TimerService",
    "CountWindow",
    "GlobalWindow",
    "MergingWindowAssigner",
    "TimeWindow",
    "Trigger",
    "TriggerResult",
    "Window",
    "WindowAssigner",
]

fill_gaps()
explain_missing_modules()

__getattr__ = missing_names(__name__)
