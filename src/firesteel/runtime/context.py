"""The contexts of user functions: the runtime context, timers, and the contexts of process functions.

A context object is created once per operator and updated for each record.
"""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.metrics import MetricGroup
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.base import RuntimeContext
from firesteel.functions.process import TimerService
from firesteel.runtime.operator import Operator, OperatorContext
from firesteel.runtime.timers import TimerQueue
from firesteel.state.api import AggregatingState, ListState, MapState, ReducingState, ValueState
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.keys.groups import user_key
from firesteel.state.live.backend import KeyedStateBackend


class TaskRuntimeContext(RuntimeContext):
    """The runtime context of a function in a task; keyed state only if the input is keyed."""

    def __init__(self, context: OperatorContext, keyed: bool) -> None:
        self._context = context
        self._keyed = keyed

    def get_task_name(self) -> str:
        return self._context.name

    def get_task_name_with_subtasks(self) -> str:
        context = self._context
        return f"{context.name} ({context.subtask + 1}/{context.parallelism})"

    def get_number_of_parallel_subtasks(self) -> int:
        return self._context.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._context.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._context.subtask

    def get_attempt_number(self) -> int:
        return self._context.attempt

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._context.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        return self._context.metrics

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        return self._backend().value_state(state_descriptor)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return self._backend().list_state(state_descriptor)

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        return self._backend().map_state(state_descriptor)

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        return self._backend().reducing_state(state_descriptor)

    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState[Any, Any]:
        return self._backend().aggregating_state(state_descriptor)

    def _backend(self) -> KeyedStateBackend:
        backend = self._context.backend
        if backend is None or not self._keyed:
            raise ProgramError(
                "requires a keyed stream to use keyed state",
                who=self._context.who,
                got="a stream without keys",
                hint="put key_by(...) before it",
            )
        return backend


class KeyedTimers(TimerService):
    """Timers of the current key of an operator."""

    __slots__ = ("_event", "_operator", "_processing", "_scope")

    def __init__(
        self, operator: Operator[Any], scope: Any, event: TimerQueue, processing: TimerQueue
    ) -> None:
        self._operator = operator
        self._scope = scope
        self._event = event
        self._processing = processing

    def current_processing_time(self) -> int:
        return self._operator.processing_time

    def current_watermark(self) -> int:
        return self._operator.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        self._event.register(timestamp, self._scope.current)

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._processing.register(timestamp, self._scope.current)

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._event.delete(timestamp, self._scope.current)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._processing.delete(timestamp, self._scope.current)


class NoTimers(TimerService):
    """The timer service of a stream without keys: it returns the time and refuses timers (Flink: same message)."""

    __slots__ = ("_operator",)

    def __init__(self, operator: Operator[Any]) -> None:
        self._operator = operator

    def current_processing_time(self) -> int:
        return self._operator.processing_time

    def current_watermark(self) -> int:
        return self._operator.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        self._refuse()

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._refuse()

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._refuse()

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._refuse()

    def _refuse(self) -> None:
        raise UnsupportedError(
            "sets or deletes a timer, which is only supported on keyed streams",
            who=self._operator.context.who,
            hint="put key_by(...) before it",
        )


class ElementContext:
    """The current element's context in process functions; `timestamp_` is set per record (milliseconds or None)."""

    __slots__ = ("_scope", "_timers", "timestamp_")

    def __init__(self, timers: TimerService, scope: Any = None) -> None:
        self._timers = timers
        self._scope = scope
        self.timestamp_: int | None = None

    def timestamp(self) -> int:
        """Return the record's timestamp; Flink's Long.MIN_VALUE if it has none."""
        return MIN_WATERMARK if self.timestamp_ is None else self.timestamp_

    def timer_service(self) -> TimerService:
        return self._timers

    def get_current_key(self) -> Any:
        return user_key(self._scope.current)

    def current_processing_time(self) -> int:
        return self._timers.current_processing_time()

    def current_watermark(self) -> int:
        return self._timers.current_watermark()
