"""When a task may be scheduled, depending on its inputs (Flink: InputDependencyConstraint)."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Schedule a task once any of its inputs, or once all of them, can be consumed."""

    ANY = 0
    ALL = 1
