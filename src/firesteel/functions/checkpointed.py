"""Functions with state of their own besides the keyed one: lists that belong to a subtask (operator state).

Contract, for one function object in one worker process: `initialize_state` once, before `open`, with the lists as the
last committed epoch left them; `snapshot_state` at the end of every epoch, since every epoch is a checkpoint. What the
lists hold then is committed with the epoch, or never was.

A subtask may go on in another worker from any epoch to the next, with another object of the function. So what is to
last beyond an epoch belongs into the lists; what is in the object's attributes alone is gone when the subtask moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firesteel.functions.base import KeyedStateStore
    from firesteel.state.api import OperatorStateStore

__all__ = ["CheckpointedFunction", "FunctionInitializationContext", "FunctionSnapshotContext"]


class FunctionInitializationContext(ABC):
    """What a function sees when its state is made or restored."""

    @abstractmethod
    def is_restored(self) -> bool:
        """Tell whether there is a committed epoch to go on from; the lists may be empty all the same."""

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None:
        """Return the number of the epoch that is gone on from, None if there is none."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore:
        """Return where the lists are got from."""

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore:
        """Return where keyed state is got from, which raises ProgramError where the input has no keys."""


class FunctionSnapshotContext(ABC):
    """What a function knows of the epoch that ends."""

    @abstractmethod
    def get_checkpoint_id(self) -> int:
        """Return the number of the epoch."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """Return the processing time of the epoch (milliseconds)."""


class CheckpointedFunction(ABC):
    """A mixin for functions with operator list state (Flink: CheckpointedFunction).

    Derive a function of any kind from it, too; sources and sinks have contracts of their own. `get_list_state` gives
    each subtask its share of a list: its own one back, or a fresh cut of all elements if the parallelism has changed.
    `get_union_list_state` gives each subtask the elements of all; as in Flink, a function picks what concerns it, and
    then saves with `update` only what is its own. For all to see the same, a function with a union list is opened anew
    in every epoch, unless it has a single subtask.

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
        """Get the lists, and take what they hold. Called once, before `open`."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Bring the lists up to date. Called at the end of every epoch, after its last record."""
