"""A stream without keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, overload

from firesteel.common.errors import ProgramError
from firesteel.common.execution_config import ExecutionConfig
from firesteel.common.typeinfo import TupleTypeInfo, TypeInformation, Types
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.compiler.rules.fix_parallelism import own_parallelism
from firesteel.connectors.print_sink import PrintSink
from firesteel.datastream.streams.adding import OutputType, add_node, declared_type, same
from firesteel.datastream.streams.broadcast import BroadcastStream
from firesteel.datastream.streams.connected import BroadcastConnectedStream, ConnectedStreams
from firesteel.datastream.streams.exchanges import Exchanges
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.results import CloseableIterator
from firesteel.datastream.streams.sink import DataStreamSink
from firesteel.datastream.streams.windowed import AllWindowedStream
from firesteel.functions.adapt import check_function
from firesteel.functions.assigners import WindowAssigner
from firesteel.functions.elements import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
)
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.process import ProcessFunction
from firesteel.functions.sink import Sink, SupportsPreprocessing
from firesteel.graph import Edge, GraphBuilder, Node
from firesteel.graph.checks import require
from firesteel.graph.nodes import (
    AUTO,
    Custom,
    KeyBy,
    Partitioning,
)
from firesteel.graph.operations import (
    FilterOp,
    FlatMapOp,
    MapOp,
    Operation,
    ProcessOp,
    ProjectOp,
    SinkOp,
    TimestampsOp,
)

if TYPE_CHECKING:
    from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
    from firesteel.datastream.streams.keyed import KeyedStream


class DataStream(Exchanges):
    """A stream of records of one type; its methods add operations to the program and return the result streams.

    Nothing runs before `execute`. `func` arguments take a plain function, a lambda or a generator function as well as
    an object of the named class. `output_type` declares the type of an operation's results: values are coerced to it as
    Flink's serialisers do (`Types.FLOAT()` is 32 bits wide), None means any value. Wrong arguments raise ProgramError,
    which names the line.

    >>> from firesteel.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> words = env.from_collection(["to", "be"]).map(str.upper, Types.STRING())
    >>> words.get_name(), words.get_type()
    ('Map', String)
    """

    _is_keyed: ClassVar[bool] = False

    def __init__(
        self,
        environment: StreamExecutionEnvironment,
        edges: tuple[Edge, ...],
        type_info: TypeInformation | None,
    ) -> None:
        self._environment = environment
        self._edges = edges
        self._type_info = type_info

    @property
    def _builder(self) -> GraphBuilder:
        return self._environment._builder

    def _own_node(self, call: str) -> Node:
        edge = self._edges[0]
        if len(self._edges) > 1 or not (edge.partitioning == AUTO or isinstance(edge.partitioning, Custom)):
            raise ProgramError(
                "requires the result of an operation",
                who=call_site(call),
                got="a union of streams" if len(self._edges) > 1 else f"a {edge.partitioning.label} stream",
                hint="call it on an operation before or after this one",
            )
        if edge.partitioning != AUTO or edge.side_output is not None:
            # As in PyFlink, these streams have a separate operation; it is added only if it makes a difference.
            name = "Map" if edge.side_output is not None else "_keyed_stream_values_operator"
            node = add_node(self._builder, MapOp(same), name, (self._edges,), self._type_info)
            self._edges = (edge,) = (Edge(node),)
        return self._builder[edge.source]

    def get_type(self) -> TypeInformation:
        """Return the type of the records; the pickled type if none was declared."""
        return self._type_info or Types.PICKLED_BYTE_ARRAY()

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment that the stream was created from."""
        return self._environment

    def get_execution_config(self) -> ExecutionConfig:
        """Return the environment's execution config."""
        return self._environment.get_config()

    def map(
        self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Turn each record into one record."""
        return self._then(MapOp(func), "Map", output_type)

    def flat_map(
        self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Turn each record into any number of records: the ones that `func` yields or returns in an iterable."""
        return self._then(FlatMapOp(func), "FlatMap", output_type)

    def filter(self, func: Callable[[Any], Any] | FilterFunction) -> DataStream:
        """Keep the records for which `func` returns a true value."""
        return self._then(FilterOp(func), "Filter", self._type_info)

    def process(self, func: ProcessFunction, output_type: OutputType = None) -> DataStream:
        """Apply a process function, which sees timestamps and can emit to side outputs."""
        return self._then(ProcessOp(func), "PROCESS", output_type)

    def key_by(
        self, key_selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation | None = None
    ) -> KeyedStream:
        """Group the records by a key. Equal keys (same value and type) meet in one subtask and share state."""
        from firesteel.datastream.streams.keyed import KeyedStream

        who = call_site("key_by")
        check_function(key_selector, KeySelector, "get_key", who)
        if key_type is not None:
            require(key_type, (TypeInformation,), who, "write it as Types.STRING(), Types.LONG(), ...")
        edges = self._partitioned(KeyBy(key_selector, key_type))
        return KeyedStream(self._environment, edges, self._type_info, self)

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        """Group all records, regardless of keys, into windows; they are evaluated in a single subtask."""
        return AllWindowedStream(self, window_assigner)

    def union(self, *streams: DataStream) -> DataStream:
        """Merge streams of the same type into one. Raises ProgramError if the types differ."""
        edges = list(self._edges)
        for stream in streams:
            self._require_neighbour(stream, "union")
            if stream.get_type() != self.get_type():
                raise ProgramError(
                    "requires streams of one type",
                    who=call_site("union"),
                    got=f"{self.get_type()} and {stream.get_type()}",
                    hint="map one of them to the type of the other",
                )
            edges.extend(stream._values()._edges)
        return DataStream(self._environment, tuple(edges), self._type_info)

    @overload
    def connect(self, ds: BroadcastStream) -> BroadcastConnectedStream: ...
    @overload
    def connect(self, ds: DataStream) -> ConnectedStreams: ...
    def connect(self, ds: DataStream | BroadcastStream) -> ConnectedStreams | BroadcastConnectedStream:
        """Connect with a stream of another type, or with a broadcast stream; one function then processes both."""
        if isinstance(ds, BroadcastStream):
            self._require_neighbour(ds.input_stream, "connect")
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        self._require_neighbour(ds, "connect")
        return ConnectedStreams(self, ds)

    def project(self, *field_indexes: int) -> DataStream:
        """Keep some fields of a stream of tuples, in this order. Raises ProgramError for other types and fields."""
        types = self._type_info.get_field_types() if isinstance(self._type_info, TupleTypeInfo) else []
        if not field_indexes or not all(
            isinstance(index, int) and 0 <= index < len(types) for index in field_indexes
        ):
            raise ProgramError(
                "requires a stream of tuples, and indices of their fields",
                who=call_site("project"),
                got=f"{self.get_type()} and {field_indexes}",
                hint="declare the type of the stream: map(..., output_type=Types.TUPLE([...]))",
            )
        projected = Types.TUPLE([types[index] for index in field_indexes])
        return self._then(ProjectOp(tuple(field_indexes)), "Projection", projected)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Give records timestamps and generate watermarks, which replace those from upstream."""
        return self._then(TimestampsOp(watermark_strategy), "Timestamps/Watermarks", self._type_info)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Return the stream of the records that the operation emits with `output_tag`."""
        require(
            output_tag, (OutputTag,), call_site("get_side_output"), "pass the tag the function emits with"
        )
        node = self._own_node("get_side_output")
        aside = DataStream(self._environment, (Edge(node.id, side_output=output_tag.tag_id),), None)
        if output_tag.type_info.is_pickled:
            return aside
        # As in PyFlink, a map gives the records the tag's type.
        return aside._then(MapOp(same), "Map", output_tag.type_info)

    def add_sink(self, sink_func: Sink[Any]) -> DataStreamSink:
        """Write the stream to a sink; the same as `sink_to`."""
        return self.sink_to(sink_func)

    def sink_to(self, sink: Sink[Any]) -> DataStreamSink:
        """Write the stream to a sink."""
        if isinstance(sink, SupportsPreprocessing) and (transformer := sink.get_transformer()) is not None:
            prepared: DataStream = transformer.apply(self)
            return prepared._add_sink(sink, "Writer")
        return self._add_sink(sink, "Writer")

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print each record on the driver, as Flink shows a value of its type; `sink_identifier` precedes it."""
        return self._add_sink(PrintSink(sink_identifier or ""), "Print to Std. Out")

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator | list[Any]:
        """Run the program and return this stream's records: an iterator to close, or a list of at most `limit`."""
        return self._environment._collect(self._values(), job_execution_name, limit)

    def cache(self) -> CachedDataStream:
        """Return the stream as one that later jobs of this environment may use again."""
        return CachedDataStream(self._environment, self._edges, self._type_info)

    def _then(
        self,
        operation: Operation,
        name: str,
        output_type: OutputType = None,
        inputs: Sequence[tuple[Edge, ...]] | None = None,
        **settings: Any,
    ) -> DataStream:
        """Add an operation that reads `inputs` (by default this stream) and return the stream of its results.

        `settings` are additional fields of the node.
        """
        declared = declared_type(name, output_type)
        ports = (self._edges,) if inputs is None else inputs
        node = add_node(self._builder, operation, name, ports, declared, **settings)
        return DataStream(self._environment, (Edge(node),), declared)

    def _own_parallelism(self) -> int | None:
        """Return the common parallelism of the stream's inputs, 1 if they differ; None stands for the job's."""
        each = {own_parallelism(self._builder[edge.source]) for edge in self._edges}
        return each.pop() if len(each) == 1 else 1

    def _values(self) -> DataStream:
        """Return the stream as one without keys."""
        return self

    def _require_neighbour(self, stream: DataStream, call: str) -> None:
        require(stream, (DataStream,), call_site(call), "pass the stream itself")
        if stream._environment is not self._environment:
            raise ProgramError(
                "requires streams from one environment",
                who=call_site(call),
                got="a stream of another one",
                hint="make all streams of a program from one StreamExecutionEnvironment",
            )

    def _partitioned(self, partitioning: Partitioning) -> tuple[Edge, ...]:
        return tuple(replace(edge, partitioning=partitioning) for edge in self._edges)

    def _repartitioned(self, partitioning: Partitioning) -> DataStream:
        return DataStream(self._environment, self._partitioned(partitioning), self._type_info)

    def _add_sink(self, sink: Sink[Any], name: str, parallelism: int | None = None) -> DataStreamSink:
        if isinstance(sink, Sink):
            sink = sink.for_type(self._type_info)
        node = add_node(self._builder, SinkOp(sink), name, (self._edges,), parallelism=parallelism)
        return DataStreamSink(self._environment, node)


class CachedDataStream(DataStream):
    """A stream marked for use by several jobs of one environment (Flink: a cache that is computed lazily, in
    BATCH mode).

    The cache is a hint: each job computes the stream again from its sources, with the same records, because all sources
    can be read again.
    """

    def invalidate(self) -> None:
        """Invalidate the cache; no effect, because nothing is kept between jobs."""

    def _own_node(self, call: str) -> NoReturn:
        raise ProgramError(
            "is for the result of an operation",
            who=call_site(call),
            got="a cached stream",
            hint="call it before cache()",
        )
