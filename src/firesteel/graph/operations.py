"""The operations a node can stand for, one frozen class per kind.

A **keyed** port has KeyBy edges only, an **any** port has edges of every kind (keyed ones too: the function
then has keyed state). `function` fields hold what the user passed: a callable, or an object of the class named
here.

=======================  ================================================================  =======================
operation                fields                                                            ports
=======================  ================================================================  =======================
SourceOp                 source: Source, strategy: WatermarkStrategy | None                none
MapOp                    function: MapFunction                                             any
FlatMapOp                function: FlatMapFunction                                         any
FilterOp                 function: FilterFunction                                          any
ProcessOp                function: ProcessFunction                                         not keyed
KeyedProcessOp           function: KeyedProcessFunction                                    keyed
ReduceOp                 function: ReduceFunction                                          keyed
AggregateFieldOp         method: sum | min | max | min_by | max_by, position: int | str    keyed
CoMapOp                  function: CoMapFunction                                           both keyed, or neither
CoFlatMapOp              function: CoFlatMapFunction                                       both keyed, or neither
CoProcessOp              function: CoProcessFunction                                       not keyed, not keyed
KeyedCoProcessOp         function: KeyedCoProcessFunction                                  keyed, keyed
BroadcastProcessOp       function: BroadcastProcessFunction, descriptors                   not keyed, Broadcast
KeyedBroadcastProcessOp  function: KeyedBroadcastProcessFunction, descriptors              keyed, Broadcast
WindowOp                 assigner, trigger, mode, function, window_function, keyed,        keyed; Global if
                         allowed_lateness (milliseconds), late_tag: OutputTag | None,      keyed=False
                         input_type, accumulator_type
TimestampsOp             strategy: WatermarkStrategy                                       not keyed
ProjectOp                positions: tuple of int                                           not keyed
AsyncOp                  function: AsyncFunction, timeout (milliseconds), capacity,        not keyed
                         ordered, retry_strategy: AsyncRetryStrategy
SinkOp                   sink: Sink                                                        not keyed
=======================  ================================================================  =======================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from firesteel.common.errors import ProgramError
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.adapt import check_function
from firesteel.functions.async_functions import AsyncFunction, AsyncRetryStrategy
from firesteel.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from firesteel.functions.elements import (
    AggregateFunction,
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    ReduceFunction,
)
from firesteel.functions.process import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from firesteel.functions.sink import Sink
from firesteel.functions.source import Source
from firesteel.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.graph.checks import key_hint, require, shown
from firesteel.state.descriptors import MapStateDescriptor

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation
    from firesteel.functions.assigners import WindowAssigner
    from firesteel.functions.output_tag import OutputTag
    from firesteel.functions.triggers import Trigger

WindowMode = Literal["reduce", "aggregate", "apply", "process"]
FieldMethod = Literal["sum", "min", "max", "min_by", "max_by"]


@dataclass(frozen=True, eq=False)
class Operation:
    """What a node does; `kind` names it in errors."""

    kind: ClassVar[str] = "operation"

    def check(self, who: str) -> None:
        """Raise ProgramError where a field is not what it must be; `who` is the call the user made."""


@dataclass(frozen=True, eq=False)
class SourceOp(Operation):
    """Reads a source; timestamps and watermarks come from `strategy`, None for neither."""

    kind = "source"

    source: Source[Any]
    strategy: WatermarkStrategy | None = None

    def check(self, who: str) -> None:
        """Require a Source and a WatermarkStrategy."""
        require(
            self.source,
            (Source,),
            who,
            "pass a source from firesteel.datastream.connectors, or a Source of your own",
        )
        if self.strategy is not None:
            require(
                self.strategy, (WatermarkStrategy,), who, "pass WatermarkStrategy.no_watermarks() for none"
            )


@dataclass(frozen=True, eq=False)
class MapOp(Operation):
    """One record out for each one in."""

    kind = "map"

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a MapFunction."""
        check_function(self.function, MapFunction, "map", who)


@dataclass(frozen=True, eq=False)
class FlatMapOp(Operation):
    """Any number of records out for each one in."""

    kind = "flat_map"

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a FlatMapFunction."""
        check_function(self.function, FlatMapFunction, "flat_map", who)


@dataclass(frozen=True, eq=False)
class FilterOp(Operation):
    """The records for which a predicate holds."""

    kind = "filter"

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a FilterFunction."""
        check_function(self.function, FilterFunction, "filter", who)


@dataclass(frozen=True, eq=False)
class ProcessOp(Operation):
    """A process function on a stream without keys: no timers, no keyed state."""

    kind = "process"

    function: ProcessFunction

    def check(self, who: str) -> None:
        """Require a ProcessFunction."""
        require(self.function, (ProcessFunction,), who, key_hint(self.function))


@dataclass(frozen=True, eq=False)
class KeyedProcessOp(Operation):
    """A process function with keyed state and timers."""

    kind = "process"

    function: KeyedProcessFunction

    def check(self, who: str) -> None:
        """Require a KeyedProcessFunction."""
        require(
            self.function, (KeyedProcessFunction,), who, "on a keyed stream, subclass KeyedProcessFunction"
        )


@dataclass(frozen=True, eq=False)
class ReduceOp(Operation):
    """The running reduction of each key; in BATCH mode only its last value."""

    kind = "reduce"

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a ReduceFunction."""
        check_function(self.function, ReduceFunction, "reduce", who)


@dataclass(frozen=True, eq=False)
class AggregateFieldOp(Operation):
    """The running sum, min, max, min_by or max_by of a field; field 0 of a plain value is the value."""

    kind = "aggregate"

    method: FieldMethod
    position: int | str

    def check(self, who: str) -> None:
        """Require a position that is an index or a field's name."""
        if not isinstance(self.position, int | str) or isinstance(self.position, bool):
            raise ProgramError(
                "requires a position that is a field's index or name",
                who=who,
                got=shown(self.position),
                hint=f"write {self.method}(1), or {self.method}('price') for rows with names",
            )


@dataclass(frozen=True, eq=False)
class CoMapOp(Operation):
    """One record out, or none for None, for each record of two connected streams."""

    kind = "co_map"

    function: CoMapFunction

    def check(self, who: str) -> None:
        """Require a CoMapFunction."""
        check_function(self.function, CoMapFunction, None, who)


@dataclass(frozen=True, eq=False)
class CoFlatMapOp(Operation):
    """Any number of records out for each record of two connected streams."""

    kind = "co_flat_map"

    function: CoFlatMapFunction

    def check(self, who: str) -> None:
        """Require a CoFlatMapFunction."""
        check_function(self.function, CoFlatMapFunction, None, who)


@dataclass(frozen=True, eq=False)
class CoProcessOp(Operation):
    """A process function of two connected streams without keys."""

    kind = "co_process"

    function: CoProcessFunction

    def check(self, who: str) -> None:
        """Require a CoProcessFunction."""
        require(self.function, (CoProcessFunction,), who, key_hint(self.function))


@dataclass(frozen=True, eq=False)
class KeyedCoProcessOp(Operation):
    """A process function of two connected keyed streams, which share keyed state and timers."""

    kind = "co_process"

    function: KeyedCoProcessFunction

    def check(self, who: str) -> None:
        """Require a KeyedCoProcessFunction."""
        require(
            self.function, (KeyedCoProcessFunction,), who, "on keyed streams, subclass KeyedCoProcessFunction"
        )


@dataclass(frozen=True, eq=False)
class BroadcastProcessOp(Operation):
    """A process function of a stream and a broadcast one, with the broadcast states of `descriptors`."""

    kind = "broadcast_process"

    function: BroadcastProcessFunction[Any, Any, Any]
    descriptors: tuple[MapStateDescriptor, ...]

    def check(self, who: str) -> None:
        """Require a BroadcastProcessFunction."""
        require(self.function, (BroadcastProcessFunction,), who, key_hint(self.function))


@dataclass(frozen=True, eq=False)
class KeyedBroadcastProcessOp(Operation):
    """As BroadcastProcessOp, with keyed state and timers on port 0."""

    kind = "broadcast_process"

    function: KeyedBroadcastProcessFunction[Any, Any, Any, Any]
    descriptors: tuple[MapStateDescriptor, ...]

    def check(self, who: str) -> None:
        """Require a KeyedBroadcastProcessFunction."""
        hint = "where the stream is keyed, subclass KeyedBroadcastProcessFunction"
        require(self.function, (KeyedBroadcastProcessFunction,), who, hint)


@dataclass(frozen=True, eq=False)
class WindowOp(Operation):
    """Groups records into windows and evaluates them.

    `function` is the ReduceFunction or callable of mode "reduce" and the AggregateFunction of mode "aggregate",
    else None. `window_function` sees the (reduced) contents: required in the modes "apply" and "process",
    optional in the others.
    """

    kind = "window"

    assigner: WindowAssigner[Any, Any]
    trigger: Trigger[Any, Any]
    mode: WindowMode
    function: Any = None
    window_function: Any = None
    allowed_lateness: int = 0
    late_tag: OutputTag | None = None
    input_type: TypeInformation | None = None
    accumulator_type: TypeInformation | None = None
    keyed: bool = True

    def check(self, who: str) -> None:
        """Require the functions of the mode."""
        plain: type = WindowFunction if self.keyed else AllWindowFunction
        rich: type = ProcessWindowFunction if self.keyed else ProcessAllWindowFunction
        if self.mode == "reduce":
            check_function(self.function, ReduceFunction, "reduce", who)
        elif self.mode == "aggregate":
            check_function(self.function, AggregateFunction, None, who)
        if self.mode == "apply":
            check_function(self.window_function, plain, "apply", who)
        elif self.mode == "process":
            require(self.window_function, (rich,), who, f"subclass {rich.__name__}")
        elif self.window_function is not None:
            require(
                self.window_function, (plain, rich), who, "pass it as the second argument, window_function"
            )


@dataclass(frozen=True, eq=False)
class TimestampsOp(Operation):
    """Assigns timestamps and generates watermarks."""

    kind = "assign_timestamps_and_watermarks"

    strategy: WatermarkStrategy

    def check(self, who: str) -> None:
        """Require a WatermarkStrategy."""
        require(
            self.strategy,
            (WatermarkStrategy,),
            who,
            "start from WatermarkStrategy.for_bounded_out_of_orderness(...)",
        )


@dataclass(frozen=True, eq=False)
class ProjectOp(Operation):
    """Tuples of some of the fields of tuples."""

    kind = "project"

    positions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AsyncOp(Operation):
    """Awaits a call per record: at most `capacity` in flight, each at most `timeout` milliseconds, retries included."""

    kind = "async"

    function: AsyncFunction[Any, Any]
    timeout: int
    capacity: int
    ordered: bool
    retry_strategy: AsyncRetryStrategy[Any]

    def check(self, who: str) -> None:
        """Require an AsyncFunction and a capacity of at least one."""
        check_function(self.function, AsyncFunction, None, who)
        if not isinstance(self.capacity, int) or self.capacity < 1:
            raise ProgramError("requires a capacity of at least 1", who=who, got=shown(self.capacity))


@dataclass(frozen=True, eq=False)
class SinkOp(Operation):
    """Writes records out."""

    kind = "sink"

    sink: Sink[Any]

    def check(self, who: str) -> None:
        """Require a Sink."""
        require(
            self.sink, (Sink,), who, "pass a sink from firesteel.datastream.connectors, or a Sink of your own"
        )
