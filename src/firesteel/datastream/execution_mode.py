"""How a program runs: as a stream or as a batch."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """Whether results are emitted as they change, or once, when the bounded input has ended."""

    STREAMING = 0
    """Results are updated with each record; watermarks advance as the input is read."""
    BATCH = 1
    """Sources must be bounded; keyed aggregates emit their last value only, event time advances at the end."""
    AUTOMATIC = 2
    """BATCH if all sources are bounded, else STREAMING."""
