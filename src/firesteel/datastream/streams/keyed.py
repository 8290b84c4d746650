"""A stream whose records are grouped by a key."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.common.types import Row
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.datastream.streams.adding import OutputType, same
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.plain import CachedDataStream, DataStream
from firesteel.datastream.streams.windowed import WindowedStream
from firesteel.functions.adapt import as_function
from firesteel.functions.assigners import WindowAssigner
from firesteel.functions.base import RuntimeContext
from firesteel.functions.count_windows import CountSlidingWindowAssigner, CountTumblingWindowAssigner
from firesteel.functions.elements import KeySelector, MapFunction, ReduceFunction
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.process import KeyedProcessFunction
from firesteel.functions.sink import Sink
from firesteel.graph import Edge, Node
from firesteel.graph.nodes import KeyBy, Partitioning
from firesteel.graph.operations import AggregateFieldOp, FieldMethod, KeyedProcessOp, MapOp, ReduceOp
from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
    from firesteel.datastream.streams.results import CloseableIterator
    from firesteel.datastream.streams.sink import DataStreamSink


class _WithKey(MapFunction):
    def __init__(self, selector: KeySelector) -> None:
        self._selector = selector

    def open(self, runtime_context: RuntimeContext) -> None:
        self._selector.open(runtime_context)

    def map(self, value: Any) -> Row:
        return Row(self._selector.get_key(value), value)

    def close(self) -> None:
        self._selector.close()


class KeyedStream(DataStream):
    """A stream grouped by a key: functions on it have state and timers per key.

    `map`, `flat_map` and `filter` are those of DataStream, with keyed state. The key determines the partitioning, so
    calls that would change it raise ProgramError. So do setters that apply to an operation only.

    >>> from firesteel.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> counts = env.from_collection([("a", 1), ("b", 2), ("a", 3)]).key_by(lambda pair: pair[0]).sum(1)
    >>> counts.get_name()
    'Reduce'
    """

    _is_keyed = True

    def __init__(
        self,
        environment: StreamExecutionEnvironment,
        edges: tuple[Edge, ...],
        type_info: TypeInformation | None,
        origin: DataStream,
    ) -> None:
        super().__init__(environment, edges, type_info)
        self._origin = origin

    class AccumulateType(Enum):
        """The aggregates of a field."""

        MIN = 1
        MAX = 2
        MIN_BY = 3
        MAX_BY = 4
        SUM = 5

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """Combine the records of each key; emit the new value per record, in BATCH mode only the last one."""
        return self._then(ReduceOp(func), "Reduce", self._type_info)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Add up a field of the records of each key; other fields are those of the first record."""
        return self._aggregate("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Find the least value of a field; other fields are those of the first record."""
        return self._aggregate("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Find the greatest value of a field; other fields are those of the first record."""
        return self._aggregate("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Find the record with the least value of a field; the first one if there are several."""
        return self._aggregate("min_by", position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Find the record with the greatest value of a field; the first one if there are several."""
        return self._aggregate("max_by", position_to_max_by)

    def process(  # type: ignore[override]  # as in PyFlink, a keyed stream takes another kind of function
        self, func: KeyedProcessFunction, output_type: OutputType = None
    ) -> DataStream:
        """Apply a process function with keyed state and timers."""
        return self._then(KeyedProcessOp(func), "KEYED PROCESS", output_type)

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        """Group the records of each key into windows."""
        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Group the records of each key by `size`, with a window start every `slide` records (0: every `size`)."""
        if slide == 0:
            return WindowedStream(self, CountTumblingWindowAssigner(size))
        return WindowedStream(self, CountSlidingWindowAssigner(size, slide))

    def key_by(
        self, key_selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation | None = None
    ) -> KeyedStream:
        """Group the records by another key."""
        return self._origin.key_by(key_selector, key_type)

    def union(self, *streams: DataStream) -> DataStream:
        """Merge streams of the same type into one without keys."""
        return self._values().union(*streams)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Give records timestamps and generate watermarks; the result has no keys."""
        return self._values().assign_timestamps_and_watermarks(watermark_strategy)

    def project(self, *field_indexes: int) -> DataStream:
        """Keep some fields of a stream of tuples; the result has no keys."""
        return self._values().project(*field_indexes)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Return the records that the keyed operation emits with `output_tag`."""
        return self._origin.get_side_output(output_tag)

    def cache(self) -> CachedDataStream:
        """Not possible: raises ProgramError."""
        self._refuse("cache", "cache the stream before key_by")

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator | list[Any]:
        """Run the program and return rows of a key and its record, as PyFlink does; see DataStream.

        The records are those before the exchange, in their order.
        """
        key = self._edges[0].partitioning
        assert isinstance(key, KeyBy)
        selector = as_function(key.selector, KeySelector, "get_key", call_site("key_by"))
        pair = Types.ROW([key.key_type or Types.PICKLED_BYTE_ARRAY(), self.get_type()])
        origin = self._origin
        parallelism = origin._own_parallelism()
        rows = origin._then(
            MapOp(_WithKey(selector)), "_stream_key_by_map_operator", pair, parallelism=parallelism
        )
        return rows.execute_and_collect(job_execution_name, limit)

    def broadcast(self, *args: MapStateDescriptor) -> NoReturn:
        """Not possible: raises ProgramError."""
        del args
        self._refuse("broadcast", "the key decides where a record goes; drop key_by")

    def _values(self) -> DataStream:
        return self._then(MapOp(same), "_keyed_stream_values_operator", self._type_info)

    def _aggregate(self, method: FieldMethod, position: int | str) -> DataStream:
        return self._then(AggregateFieldOp(method, position), "Reduce", self._type_info)

    def _add_sink(self, sink: Sink[Any], name: str, parallelism: int | None = None) -> DataStreamSink:
        return self._values()._add_sink(sink, name, parallelism)

    def _repartitioned(self, partitioning: Partitioning) -> DataStream:
        self._refuse(partitioning.label.lower(), "the key decides where a record goes; drop key_by")

    def _own_node(self, call: str) -> Node:
        self._refuse(call, "call it on the operation before key_by, or on the one after it")

    def _refuse(self, call: str, hint: str) -> NoReturn:
        raise ProgramError(
            "is for streams without keys", who=call_site(call), got="the result of key_by", hint=hint
        )
