"""A stream that every subtask sees, and what it is connected with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream.streams.adding import add_stream
from firesteel.datastream.streams.keyed import KeyedStream
from firesteel.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from firesteel.graph.operations import BroadcastProcessOp, KeyedBroadcastProcessOp
from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.datastream.streams.plain import DataStream


@dataclass(frozen=True, eq=False)
class BroadcastStream:
    """A stream of which every subtask gets all records, to be kept as broadcast state."""

    input_stream: DataStream
    broadcast_state_descriptors: list[MapStateDescriptor]


@dataclass(frozen=True, eq=False)
class BroadcastConnectedStream:
    """A stream, keyed or not, connected with a broadcast one."""

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
        if isinstance(stream, KeyedStream):
            keyed = KeyedBroadcastProcessOp(func, descriptors)  # type: ignore[arg-type]  # checked there
            return add_stream(stream, keyed, "Keyed-Co-Process-Broadcast", output_type, inputs)
        plain = BroadcastProcessOp(func, descriptors)  # type: ignore[arg-type]  # checked there
        return add_stream(stream, plain, "Co-Process-Broadcast", output_type, inputs)
