"""A stream that every subtask receives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.datastream.streams.plain import DataStream


@dataclass(frozen=True, eq=False)
class BroadcastStream:
    """A stream whose records all subtasks receive, to keep as broadcast state."""

    input_stream: DataStream
    broadcast_state_descriptors: list[MapStateDescriptor]
