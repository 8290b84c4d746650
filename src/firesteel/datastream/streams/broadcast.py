"""A stream that every subtask sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.datastream.streams.plain import DataStream


@dataclass(frozen=True, eq=False)
class BroadcastStream:
    """A stream of which every subtask gets all records, to be kept as broadcast state."""

    input_stream: DataStream
    broadcast_state_descriptors: list[MapStateDescriptor]
