"""Two streams that are processed together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream.streams.adding import OutputType
from firesteel.datastream.streams.broadcast import BroadcastStream
from firesteel.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from firesteel.functions.elements import CoFlatMapFunction, CoMapFunction, KeySelector
from firesteel.functions.process import CoProcessFunction, KeyedCoProcessFunction
from firesteel.graph.operations import (
    BroadcastProcessOp,
    CoFlatMapOp,
    CoMapOp,
    CoProcessOp,
    KeyedBroadcastProcessOp,
    KeyedCoProcessOp,
    Operation,
)
from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.datastream.streams.plain import DataStream


@dataclass(frozen=True, eq=False)
class ConnectedStreams:
    """Two streams, of any types, with one function for both; keyed if both are.

    >>> from firesteel.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> orders, prices = env.from_collection([("tea", 2)]), env.from_collection([("tea", 0.5)])
    >>> both = orders.connect(prices).key_by(lambda order: order[0], lambda price: price[0])
    """

    stream1: DataStream
    stream2: DataStream

    def key_by(
        self,
        key_selector1: Callable[[Any], Any] | KeySelector,
        key_selector2: Callable[[Any], Any] | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> ConnectedStreams:
        """Group the records of both streams by keys of one type: equal keys of both share state."""
        return ConnectedStreams(
            self.stream1.key_by(key_selector1, key_type), self.stream2.key_by(key_selector2, key_type)
        )

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turn each record into one record, or into none if the function returns None."""
        return self._add(CoMapOp(func), "Co-Map", output_type)

    def flat_map(self, func: CoFlatMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turn each record into any number of records."""
        return self._add(CoFlatMapOp(func), "Co-Flat Map", output_type)

    def process(
        self, func: CoProcessFunction | KeyedCoProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a process function; on keyed streams a KeyedCoProcessFunction, with state and timers."""
        if self._is_keyed():
            return self._add(KeyedCoProcessOp(func), "Keyed Co-Process", output_type)  # type: ignore[arg-type]
            # checked there
        return self._add(CoProcessOp(func), "Co-Process", output_type)  # type: ignore[arg-type]  # checked there

    def _is_keyed(self) -> bool:
        return self.stream1._is_keyed and self.stream2._is_keyed

    def _add(self, operation: Operation, name: str, output_type: OutputType) -> DataStream:
        keyed = self._is_keyed()
        first, second = (stream if keyed else stream._values() for stream in (self.stream1, self.stream2))
        return first._then(operation, name, output_type, [first._edges, second._edges])


@dataclass(frozen=True, eq=False)
class BroadcastConnectedStream:
    """A stream, keyed or not, connected with a broadcast stream."""

    non_broadcast_stream: DataStream
    broadcast_stream: BroadcastStream
    broadcast_state_descriptors: list[MapStateDescriptor]

    def process(
        self,
        func: BroadcastProcessFunction[Any, Any, Any] | KeyedBroadcastProcessFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Apply a function; on a keyed stream a KeyedBroadcastProcessFunction, with keyed state and timers."""
        stream = self.non_broadcast_stream
        inputs = [stream._edges, self.broadcast_stream.input_stream._edges]
        descriptors = tuple(self.broadcast_state_descriptors)
        if stream._is_keyed:
            keyed = KeyedBroadcastProcessOp(func, descriptors)  # type: ignore[arg-type]  # checked there
            return stream._then(keyed, "Keyed-Co-Process-Broadcast", output_type, inputs)
        plain = BroadcastProcessOp(func, descriptors)  # type: ignore[arg-type]  # checked there
        return stream._then(plain, "Co-Process-Broadcast", output_type, inputs)
