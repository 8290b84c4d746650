"""The classes that users subclass: functions, windows, triggers, sources and sinks, one module per kind."""

from __future__ import annotations

from firesteel.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)

__all__ = ["CheckpointedFunction", "FunctionInitializationContext", "FunctionSnapshotContext"]
