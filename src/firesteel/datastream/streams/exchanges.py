"""How the records of a stream without keys are spread over subtasks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from firesteel.datastream.streams.broadcast import BroadcastStream
from firesteel.datastream.streams.node_settings import StreamSettings, call_site
from firesteel.functions.adapt import check_function
from firesteel.functions.elements import KeySelector, Partitioner
from firesteel.graph.checks import require
from firesteel.graph.nodes import Broadcast, Custom, Forward, Partitioning, Rebalance, Rescale, Shuffle
from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.datastream.streams.plain import DataStream


class Exchanges(StreamSettings):
    """The part of DataStream that decides which subtask of the next operation gets a record."""

    @abstractmethod
    def _repartitioned(self, partitioning: Partitioning) -> DataStream:
        """Return the stream whose records are spread in this way."""

    def shuffle(self) -> DataStream:
        """Send each record to a subtask at random."""
        return self._repartitioned(Shuffle())

    def rescale(self) -> DataStream:
        """Send records round robin to the subtasks nearest to the sender's."""
        return self._repartitioned(Rescale())

    def rebalance(self) -> DataStream:
        """Send records round robin to all subtasks."""
        return self._repartitioned(Rebalance())

    def forward(self) -> DataStream:
        """Keep records in their subtask; the next operation must have the same parallelism."""
        return self._repartitioned(Forward())

    @overload
    def broadcast(self) -> DataStream: ...
    @overload
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> BroadcastStream: ...
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> DataStream | BroadcastStream:
        """Send each record to all subtasks; with state descriptors, for a function with broadcast state."""
        broadcast = self._repartitioned(Broadcast())
        if broadcast_state_descriptor is None:
            return broadcast
        descriptors = [broadcast_state_descriptor, *other_broadcast_state_descriptors]
        for descriptor in descriptors:
            require(descriptor, (MapStateDescriptor,), call_site("broadcast"), "broadcast state is a map")
        return BroadcastStream(broadcast, descriptors)

    def partition_custom(
        self,
        partitioner: Callable[[Any, int], int] | Partitioner,
        key_selector: Callable[[Any], Any] | KeySelector,
    ) -> DataStream:
        """Send each record to the subtask that `partitioner(key, number of subtasks)` returns."""
        who = call_site("partition_custom")
        check_function(partitioner, Partitioner, "partition", who)
        check_function(key_selector, KeySelector, "get_key", who)
        return self._repartitioned(Custom(partitioner, key_selector))
