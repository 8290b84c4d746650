"""The context objects of triggers, assigners and window functions while a window operator runs.

One object of each kind serves an operator for its whole life; key and window are set before each call. The state of
triggers and window functions has its own names beside the operator's state, so equal names never clash.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Protocol, cast

from firesteel.common.errors import ProgramError
from firesteel.common.metrics import MetricGroup
from firesteel.functions.assigners import WindowAssigner
from firesteel.functions.base import KeyedStateStore, RuntimeContext
from firesteel.functions.triggers import Trigger
from firesteel.functions.window_functions import ProcessAllWindowFunction, ProcessWindowFunction
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.operator import OperatorContext
from firesteel.state.api import AggregatingState, ListState, MapState, ReducingState, ValueState
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.live.handles import AggregatingHandle, ReducingHandle
from firesteel.state.live.lists import ListHandle
from firesteel.state.live.state_kinds import kind_of

if TYPE_CHECKING:
    from firesteel.runtime.timers import TimerQueue


class Clock(Protocol):
    """The current times of the operator (milliseconds)."""

    watermark: int
    processing_time: int


class PaneStates:
    """State per key and window, under names with a prefix."""

    __slots__ = ("_backend", "_handles", "_prefix")

    def __init__(self, backend: KeyedStateBackend, prefix: str) -> None:
        self._backend = backend
        self._prefix = prefix
        self._handles: dict[tuple[type, str], Any] = {}

    def get(self, descriptor: Any) -> Any:
        """Return the handle for a descriptor of any kind; the first call creates it. Raises ProgramError for anything
        else.
        """
        try:
            return self._handles[type(descriptor), descriptor.name]
        except (KeyError, AttributeError):
            return self._make(descriptor)

    def _make(self, descriptor: Any) -> Any:
        kind = kind_of(descriptor)
        own = copy.copy(descriptor)
        own.name = f"{self._prefix}:{descriptor.name}"
        handle = self._backend.state(kind, own, self._backend.windowed)
        self._handles[type(descriptor), descriptor.name] = handle
        return handle


class WindowRuntimeContext(TaskRuntimeContext):
    """The runtime context of assigners and window functions: they may request their state with each record."""

    def __init__(self, context: OperatorContext) -> None:
        super().__init__(context, keyed=True)
        self._values: dict[str, tuple[ValueStateDescriptor, ValueState[Any]]] = {}

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        known = self._values.get(state_descriptor.name)
        if known is not None and known[0] is state_descriptor:
            return known[1]
        state = super().get_state(state_descriptor)
        self._values[state_descriptor.name] = state_descriptor, state
        return state


class PaneTriggerContext(Trigger.OnMergeContext):
    """The context of an operator's trigger."""

    def __init__(
        self,
        clock: Clock,
        backend: KeyedStateBackend,
        timers: tuple[TimerQueue, TimerQueue],
        metrics: MetricGroup,
    ) -> None:
        self._clock = clock
        self._scope = backend.windowed
        self._states = PaneStates(backend, "trigger")
        self._event, self._processing = timers
        self._metrics = metrics
        self.current: tuple[Any, Any] = (None, None)
        self.merged: list[Any] = []

    def get_current_processing_time(self) -> int:
        return self._clock.processing_time

    def get_current_watermark(self) -> int:
        return self._clock.watermark

    def get_metric_group(self) -> MetricGroup:
        return self._metrics

    def register_processing_time_timer(self, time: int) -> None:
        self._processing.register(time, self.current)

    def register_event_time_timer(self, time: int) -> None:
        self._event.register(time, self.current)

    def delete_processing_time_timer(self, time: int) -> None:
        self._processing.delete(time, self.current)

    def delete_event_time_timer(self, time: int) -> None:
        self._event.delete(time, self.current)

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        self._scope.current = self.current
        return self._states.get(state_descriptor)

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        self._scope.current = self.current
        handle = self._states.get(state_descriptor)
        if not isinstance(handle, ListHandle | ReducingHandle | AggregatingHandle):
            raise ProgramError(
                "can merge list, reducing and aggregating state only",
                who=f"the trigger's state '{state_descriptor.name}'",
                got=f"a {type(state_descriptor).__name__}",
            )
        handle.merge_namespaces(self.current[1], self.merged)


class ProcessContext(ProcessWindowFunction.Context[Any], ProcessAllWindowFunction.Context[Any]):
    """The context of an operator's window function."""

    def __init__(
        self,
        clock: Clock,
        backend: KeyedStateBackend,
        global_state: KeyedStateStore,
        merging: bool,
    ) -> None:
        self._clock = clock
        self._window_state = _MergingStore() if merging else _PaneStore(backend)
        self._global_state = global_state
        self.window_: Any = None

    def window(self) -> Any:
        return self.window_

    def current_processing_time(self) -> int:
        return self._clock.processing_time

    def current_watermark(self) -> int:
        return self._clock.watermark

    def window_state(self) -> KeyedStateStore:
        return self._window_state

    def global_state(self) -> KeyedStateStore:
        return self._global_state


class AssignerContext(WindowAssigner.WindowAssignerContext):
    """The context of an operator's assigner."""

    def __init__(self, clock: Clock, runtime_context: RuntimeContext) -> None:
        self._clock = clock
        self._runtime_context = runtime_context

    def get_current_processing_time(self) -> int:
        return self._clock.processing_time

    def get_runtime_context(self) -> RuntimeContext:
        return self._runtime_context


class _PaneStore(KeyedStateStore):
    """State per key and window for window functions."""

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._states = PaneStates(backend, "window")

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        return cast(ValueState[Any], self._get(state_descriptor, ValueStateDescriptor))

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return cast(ListState[Any], self._get(state_descriptor, ListStateDescriptor))

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        return cast(MapState[Any, Any], self._get(state_descriptor, MapStateDescriptor))

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        return cast(ReducingState[Any], self._get(state_descriptor, ReducingStateDescriptor))

    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState[Any, Any]:
        return cast(AggregatingState[Any, Any], self._get(state_descriptor, AggregatingStateDescriptor))

    def _get(self, descriptor: Any, kind: type) -> Any:
        if not isinstance(descriptor, kind):
            raise ProgramError(f"requires a {kind.__name__}", got=f"a {type(descriptor).__name__}")
        return self._states.get(descriptor)


class _MergingStore(_PaneStore):
    """Refuses state per window if windows merge, as Flink does."""

    def __init__(self) -> None:
        pass

    def _get(self, descriptor: Any, kind: type) -> Any:
        raise ProgramError(
            "cannot have state per window, because windows that merge have no fixed identity",
            got=f"window_state() for the state '{getattr(descriptor, 'name', descriptor)}'",
            hint="use context.global_state(), which is kept per key",
        )
