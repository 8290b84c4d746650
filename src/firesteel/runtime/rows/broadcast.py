"""Broadcast state: port 0 is the (keyed) stream, port 1 the broadcast stream (Flink: BroadcastConnectedStream).

Every subtask receives all of the broadcast stream and keeps the same broadcast state; the function may change the state
only while it processes a broadcast element.
"""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from firesteel.functions.process import TimeDomain
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.context import ElementContext
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.rows.process import TimerOperator
from firesteel.state.api import BroadcastState, ReadOnlyBroadcastState
from firesteel.state.descriptors import MapStateDescriptor


class _States:
    """The broadcast states that an operator was connected with."""

    __slots__ = ("_backend", "_names", "_who")

    def __init__(self, context: OperatorContext, descriptors: tuple[MapStateDescriptor, ...]) -> None:
        assert context.backend is not None
        self._backend = context.backend
        self._names = {descriptor.get_name(): descriptor for descriptor in descriptors}
        self._who = context.who

    def get(self, descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        name = descriptor.get_name()
        if name not in self._names:
            raise ProgramError(
                "requires a broadcast state that was given to broadcast(...)",
                who=self._who,
                got=f"the name {name!r}, known are {sorted(self._names)}",
                hint="pass its MapStateDescriptor to DataStream.broadcast(...)",
            )
        return self._backend.broadcast_state(self._names[name])


class _WritableContext(ElementContext, BroadcastProcessFunction.Context):
    __slots__ = ("states",)

    states: _States

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return self.states.get(state_descriptor)


class _ReadContext(ElementContext, BroadcastProcessFunction.ReadOnlyContext):
    __slots__ = ("states",)

    states: _States

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
        return self.states.get(state_descriptor)


class _OnTimer(_ReadContext):
    __slots__ = ("domain",)

    domain: TimeDomain

    def time_domain(self) -> TimeDomain:
        return self.domain


class BroadcastOperator(TimerOperator):
    """Runs a BroadcastProcessFunction, or a KeyedBroadcastProcessFunction if port 0 is keyed."""

    def __init__(
        self,
        function: BroadcastProcessFunction[Any, Any, Any] | KeyedBroadcastProcessFunction[Any, Any, Any, Any],
        descriptors: tuple[MapStateDescriptor, ...],
    ) -> None:
        super().__init__(function)
        self._descriptors = descriptors
        self._process = function.process_element
        self._process_broadcast = function.process_broadcast_element

    def open(self, context: OperatorContext) -> None:
        self._states = _States(context, self._descriptors)
        super().open(context)
        timers = self.make_timers()
        self._element = _ReadContext(timers, self.scope)
        self._broadcast = _WritableContext(timers, self.scope)
        self._element.states = self._broadcast.states = self._states

    def make_on_timer_context(self) -> Any:
        context = _OnTimer(self.make_timers(), self.scope)
        context.states = self._states
        return context

    def process(self, batch: RowBatch, port: int) -> None:
        function: Any = self._process_broadcast if port == 1 else self._process
        context: Any = self._broadcast if port == 1 else self._element
        method = "process_broadcast_element()" if port == 1 else "process_element()"

        def call(value: Any, timestamp: int | None) -> Any:
            context.timestamp_ = timestamp
            return function(value, context)

        self.emit_each(batch, call, method)
