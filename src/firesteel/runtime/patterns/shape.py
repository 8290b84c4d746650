"""The shape of a pattern: partial matches that were saved belong to the states and transitions of one shape."""

from __future__ import annotations

import difflib

from firesteel.common.errors import StateMismatchError
from firesteel.functions.base import Function
from firesteel.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)
from firesteel.runtime.patterns.live import SHAPE
from firesteel.state.descriptors import ListStateDescriptor


class Shape(Function, CheckpointedFunction):
    """Keeps the shape of the pattern with its state, and refuses state of a pattern of another shape."""

    def __init__(self, shape: list[str], who: str) -> None:
        self._shape = shape
        self._who = who

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        store = context.get_operator_state_store()
        self._saved = store.get_list_state(ListStateDescriptor(SHAPE, None))
        for saved in self._saved.get():
            if saved != self._shape:
                raise shape_error(saved, self._shape, self._who, "uid")

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        self._saved.update([self._shape])


def shape_error(saved: list[str], shape: list[str], who: str, name: str) -> StateMismatchError:
    """Return the error that partial matches are of other steps; `name` is what to change to begin anew."""
    difference = [line for line in difflib.ndiff(saved, shape) if line[0] in "-+"]
    return StateMismatchError(
        "requires a pattern of the shape that its partial matches were saved with",
        who=who,
        got=f"another one (states and transitions: {'; '.join(difference)})",
        hint=f"conditions may change, steps may not: give the changed pattern another {name} to begin anew",
    )
