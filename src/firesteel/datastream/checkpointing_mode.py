"""How often a record takes effect after a failure."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """The guarantee for state; state is exactly-once in either mode."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
