"""The common part of all functions: their lifecycle and their context.

Contract, for one function object in one worker process: `open(runtime_context)` once, then its own methods any number
of times, over many epochs, then `close()` once. State handles that `open` gets stay valid until `close`. The object is
pickled and sent to the workers, so create connections and other objects that cannot be pickled in `open`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firesteel.common.metrics import MetricGroup
    from firesteel.state.api import AggregatingState, ListState, MapState, ReducingState, ValueState
    from firesteel.state.descriptors import (
        AggregatingStateDescriptor,
        ListStateDescriptor,
        MapStateDescriptor,
        ReducingStateDescriptor,
        ValueStateDescriptor,
    )

__all__ = ["Function", "KeyedStateStore", "RuntimeContext"]


class KeyedStateStore(ABC):
    """Hands out state that is scoped to the key of the record being processed.

    Two calls with descriptors of one name return the same handle. One name with two kinds or types raises ProgramError.
    Outside a keyed stream every method raises ProgramError.
    """

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """Return the handle of a single value per key."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return the handle of a list per key."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        """Return the handle of a map per key; its entries are read and written one by one."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        """Return the handle of a value per key into which added values are reduced."""

    @abstractmethod
    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState[Any, Any]:
        """Return the handle of an accumulator per key into which added values are aggregated."""


class RuntimeContext(KeyedStateStore):
    """Describes the task that a function runs in, and gives access to keyed state."""

    @abstractmethod
    def get_task_name(self) -> str:
        """Return the name of the operator, as `name()` set it."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Return the operator's parallelism."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the operator's max parallelism: the number of key groups."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Return this subtask's number, from 0 to parallelism - 1."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Return the number of earlier attempts of this subtask: 0 at the first attempt."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return the name with the subtask's number, counted from one, and the parallelism: "MyTask (3/6)"."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return the job's global parameter `key`, or `default_value`."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Return the group to register this function's metrics in."""


class Function(ABC):  # noqa: B024 - which methods a function has is its kind's business
    """The base class of all user-defined functions; the module's contract has the order of calls."""

    def open(self, runtime_context: RuntimeContext) -> Any:
        """Prepare for work: get state handles, open connections. Called once, before any other method."""

    def close(self) -> Any:
        """Release what `open` acquired. Called once, even if the job failed."""
