"""Operations on two connected streams, and on a stream with a broadcast stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from firesteel.functions.adapt import check_function
from firesteel.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from firesteel.functions.elements import CoFlatMapFunction, CoMapFunction
from firesteel.functions.process import CoProcessFunction, KeyedCoProcessFunction
from firesteel.graph.checks import key_hint, require
from firesteel.graph.operations.operation import Operation
from firesteel.state.descriptors import MapStateDescriptor


@dataclass(frozen=True, eq=False)
class CoMapOp(Operation):
    """Emits one record, or none for None, for each record of two connected streams: both keyed, or neither."""

    kind = "co_map"
    gives_objects = True

    function: CoMapFunction

    def check(self, who: str) -> None:
        """Require a CoMapFunction."""
        check_function(self.function, CoMapFunction, None, who)


@dataclass(frozen=True, eq=False)
class CoFlatMapOp(Operation):
    """Emits any number of records for each record of two connected streams: both keyed, or neither."""

    kind = "co_flat_map"
    gives_objects = True

    function: CoFlatMapFunction

    def check(self, who: str) -> None:
        """Require a CoFlatMapFunction."""
        check_function(self.function, CoFlatMapFunction, None, who)


@dataclass(frozen=True, eq=False)
class CoProcessOp(Operation):
    """A process function of two connected streams without keys."""

    kind = "co_process"
    gives_objects = True

    function: CoProcessFunction

    def check(self, who: str) -> None:
        """Require a CoProcessFunction."""
        require(self.function, (CoProcessFunction,), who, key_hint(self.function))


@dataclass(frozen=True, eq=False)
class KeyedCoProcessOp(Operation):
    """A process function of two connected keyed streams, which share keyed state and timers."""

    kind = "co_process"
    gives_objects = True

    function: KeyedCoProcessFunction

    def check(self, who: str) -> None:
        """Require a KeyedCoProcessFunction."""
        require(
            self.function, (KeyedCoProcessFunction,), who, "on keyed streams, subclass KeyedCoProcessFunction"
        )


@dataclass(frozen=True, eq=False)
class BroadcastProcessOp(Operation):
    """A process function of a stream and a broadcast stream, with the broadcast states of `descriptors`."""

    kind = "broadcast_process"
    stateful: ClassVar[bool] = True
    first_port: ClassVar[int | None] = 1

    function: BroadcastProcessFunction[Any, Any, Any]
    descriptors: tuple[MapStateDescriptor, ...]

    def check(self, who: str) -> None:
        """Require a BroadcastProcessFunction."""
        require(self.function, (BroadcastProcessFunction,), who, key_hint(self.function))


@dataclass(frozen=True, eq=False)
class KeyedBroadcastProcessOp(Operation):
    """Like BroadcastProcessOp, with keyed state and timers on port 0."""

    kind = "broadcast_process"
    stateful: ClassVar[bool] = True
    first_port: ClassVar[int | None] = 1

    function: KeyedBroadcastProcessFunction[Any, Any, Any, Any]
    descriptors: tuple[MapStateDescriptor, ...]

    def check(self, who: str) -> None:
        """Require a KeyedBroadcastProcessFunction."""
        hint = "on a keyed stream, subclass KeyedBroadcastProcessFunction"
        require(self.function, (KeyedBroadcastProcessFunction,), who, hint)
