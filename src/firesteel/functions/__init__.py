"""What users subclass: function classes, windows, triggers, and the source and sink interfaces, a module per kind."""

from __future__ import annotations

from firesteel.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)

__all__ = ["CheckpointedFunction", "FunctionInitializationContext", "FunctionSnapshotContext"]
