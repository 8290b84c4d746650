"""Streams whose records are grouped into windows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream.streams.adding import OutputType, declared_type
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.assigners import MergingWindowAssigner, WindowAssigner
from firesteel.functions.elements import AggregateFunction, ReduceFunction
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.triggers import Trigger
from firesteel.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.graph import Edge
from firesteel.graph.checks import require, shown
from firesteel.graph.nodes import Global
from firesteel.graph.operations import WindowMode, WindowOp

if TYPE_CHECKING:
    from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
    from firesteel.datastream.streams.keyed import KeyedStream
    from firesteel.datastream.streams.plain import DataStream

Applied = TypeVar("Applied")
"""The functions that `apply` takes."""

Processed = TypeVar("Processed")
"""The functions that `process` takes."""


class _Windowed(ABC, Generic[Applied, Processed]):
    """Windows of a stream, and what is evaluated in them.

    The windows of a keyed stream and those of a whole stream differ in the functions that they take, and in how the
    operation is added to the graph.
    """

    def __init__(self, stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        require(
            window_assigner,
            (WindowAssigner,),
            call_site("window"),
            "pass e.g. TumblingEventTimeWindows.of(...)",
        )
        self._stream = stream
        self._assigner = window_assigner
        self._trigger: Trigger[Any, Any] | None = None
        self._allowed_lateness = 0
        self._late_tag: OutputTag | None = None

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment that the stream was created from."""
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """Return the type of the records in the windows."""
        return self._stream.get_type()

    def trigger(self, trigger: Trigger[Any, Any]) -> Self:
        """Set the trigger that decides when a window is evaluated; it replaces the assigner's default."""
        require(trigger, (Trigger,), call_site("trigger"), "pass e.g. CountTrigger.of(10)")
        if isinstance(self._assigner, MergingWindowAssigner) and not trigger.can_merge():
            raise ProgramError(
                "requires a trigger that can merge, as the windows do",
                who=call_site("trigger"),
                got=shown(trigger),
                hint="override can_merge() and on_merge()",
            )
        self._trigger = trigger
        return self

    def allowed_lateness(self, time_ms: int) -> Self:
        """Keep a window for this time (milliseconds) after the watermark has passed its end; late records fire it
        again.
        """
        if not isinstance(time_ms, int) or time_ms < 0:
            raise ProgramError(
                "requires milliseconds that are not negative",
                who=call_site("allowed_lateness"),
                got=shown(time_ms),
            )
        self._allowed_lateness = time_ms
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Send records that come too late for their window to a side output instead of dropping them."""
        require(output_tag, (OutputTag,), call_site("side_output_late_data"), "pass an OutputTag")
        self._late_tag = output_tag
        return self

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: Applied | Processed | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Reduce each window's records as they arrive; `window_function` gets the single result."""
        output = self._reduced_type(window_function, output_type)
        return self._evaluate("reduce", reduce_function, window_function, output)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: Applied | Processed | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Aggregate each window's records as they arrive; `window_function` gets the single result."""
        return self._evaluate("aggregate", aggregate_function, window_function, output_type, accumulator_type)

    def apply(
        self,
        window_function: Applied,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Evaluate each window over all of its records, which are kept until then."""
        return self._evaluate("apply", None, window_function, output_type)

    def process(
        self,
        process_window_function: Processed,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Evaluate each window over all of its records, with a context."""
        return self._evaluate("process", None, process_window_function, output_type)

    @abstractmethod
    def _add(self, operation: WindowOp, name: str, output_type: OutputType, description: str) -> DataStream:
        """Add the window operation to the graph."""

    def _evaluate(
        self,
        mode: WindowMode,
        function: Any,
        window_function: Any,
        output_type: OutputType,
        accumulator_type: OutputType = None,
    ) -> DataStream:
        trigger = self._trigger
        if trigger is None:
            trigger = self._assigner.get_default_trigger(self.get_execution_environment())
        operation = WindowOp(
            assigner=self._assigner,
            trigger=trigger,
            mode=mode,
            function=function,
            window_function=window_function,
            allowed_lateness=self._allowed_lateness,
            late_tag=self._late_tag,
            input_type=self._stream._type_info,
            accumulator_type=declared_type(mode, accumulator_type),
        )
        functions = ", ".join(
            _function_name(part) for part in (function, window_function) if part is not None
        )
        what = f"{self._assigner}, {type(trigger).__name__}, {functions}"
        return self._add(operation, type(self._assigner).__name__, output_type, what)

    def _reduced_type(self, window_function: Any, output_type: OutputType) -> OutputType:
        if window_function is None and output_type is None:
            return self._stream._type_info
        return output_type


class WindowedStream(
    _Windowed[WindowFunction[Any, Any, Any, Any], ProcessWindowFunction[Any, Any, Any, Any]]
):
    """A keyed stream whose records are grouped into windows, separately for each key.

    >>> from firesteel.common import Time
    >>> from firesteel.datastream import StreamExecutionEnvironment
    >>> from firesteel.datastream.window import TumblingEventTimeWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> keyed = env.from_collection([("a", 1), ("a", 2)]).key_by(lambda pair: pair[0])
    >>> hourly = keyed.window(TumblingEventTimeWindows.of(Time.hours(1)))
    >>> hourly.reduce(lambda x, y: (x[0], x[1] + y[1])).get_name()
    'TumblingEventTimeWindows'
    """

    def __init__(self, keyed_stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(keyed_stream, window_assigner)

    def _add(self, operation: WindowOp, name: str, output_type: OutputType, description: str) -> DataStream:
        return self._stream._then(operation, name, output_type, description=f"Window({description})")


class AllWindowedStream(_Windowed[AllWindowFunction[Any, Any, Any], ProcessAllWindowFunction[Any, Any, Any]]):
    """A stream whose records are grouped into windows regardless of keys, in a single subtask."""

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(data_stream, window_assigner)

    def _add(self, operation: WindowOp, name: str, output_type: OutputType, description: str) -> DataStream:
        inputs: list[tuple[Edge, ...]] = [self._stream._partitioned(Global())]
        return self._stream._then(
            replace(operation, by_key=False),
            name,
            output_type,
            inputs,
            parallelism=1,
            description=f"AllWindow({description})",
        )


def _function_name(function: object) -> str:
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__
