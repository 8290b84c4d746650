"""Functions with operator state: lists that belong to a subtask.

Contract, for one function object in one worker process: `initialize_state` once, before `open`, with the lists as the
last committed epoch left them; `snapshot_state` at the end of every epoch, since every epoch is a checkpoint. The
contents of the lists are committed with the epoch, or discarded with it.

A subtask may move to another worker between two epochs, with another object of the function. So put everything that
must outlast an epoch into the lists: attributes of the object are lost when the subtask moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firesteel.functions.base import KeyedStateStore
    from firesteel.state.api import OperatorStateStore

__all__ = ["CheckpointedFunction", "FunctionInitializationContext", "FunctionSnapshotContext"]


class FunctionInitializationContext(ABC):
    """The context in which a function creates or restores its state."""

    @abstractmethod
    def is_restored(self) -> bool:
        """Return whether the job resumes from a committed epoch; the lists can still be empty."""

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None:
        """Return the number of the epoch that the job resumes from, None if there is none."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the store of operator state, which has the lists."""

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore:
        """Return the store of keyed state, which raises ProgramError if the input has no keys."""


class FunctionSnapshotContext(ABC):
    """The context of the epoch that ends."""

    @abstractmethod
    def get_checkpoint_id(self) -> int:
        """Return the number of the epoch."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """Return the processing time of the epoch (milliseconds)."""


class CheckpointedFunction(ABC):
    """A mixin for functions with operator list state (Flink: CheckpointedFunction).

    Functions of any kind can derive from it; sources and sinks have their own contracts. `get_list_state` gives each
    subtask its share of a list: its own elements, or an even share of all elements if the parallelism has changed.
    `get_union_list_state` gives each subtask the elements of all subtasks. As in Flink, a function picks the elements
    that concern it, and saves only its own with `update`. A function with a union list is opened again in every epoch,
    so that all subtasks see the same elements, unless it has a single subtask.

    >>> from firesteel.functions.elements import FlatMapFunction
    >>> from firesteel.state.descriptors import ListStateDescriptor
    >>> class InPairs(FlatMapFunction, CheckpointedFunction):
    ...     def initialize_state(self, context):
    ...         store = context.get_operator_state_store()
    ...         self.saved = store.get_list_state(ListStateDescriptor("waiting"))
    ...         self.waiting = list(self.saved.get())
    ...     def snapshot_state(self, context):
    ...         self.saved.update(self.waiting)
    ...     def flat_map(self, value):
    ...         self.waiting.append(value)
    ...         if len(self.waiting) >= 2:
    ...             pair, self.waiting = tuple(self.waiting[:2]), self.waiting[2:]
    ...             yield pair
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get the lists and read their contents. Called once, before `open`."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Update the lists. Called at the end of every epoch, after its last record."""
