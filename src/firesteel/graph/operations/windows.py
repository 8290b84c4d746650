"""The operation that groups records into windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from firesteel.functions.adapt import check_function
from firesteel.functions.elements import AggregateFunction, ReduceFunction
from firesteel.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.graph.checks import require
from firesteel.graph.operations.operation import Operation

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation
    from firesteel.functions.assigners import WindowAssigner
    from firesteel.functions.output_tag import OutputTag
    from firesteel.functions.triggers import Trigger

WindowMode = Literal["reduce", "aggregate", "apply", "process"]


@dataclass(frozen=True, eq=False)
class WindowOp(Operation):
    """Groups records into windows and evaluates them.

    Without `by_key` the input is not keyed and goes to one subtask (window_all); its windows are those of one key.
    `allowed_lateness` is in milliseconds.

    `function` is the ReduceFunction or callable of mode "reduce" and the AggregateFunction of mode "aggregate",
    otherwise None. `window_function` receives the (reduced) contents; it is required in the modes "apply" and
    "process", and optional in the others.
    """

    kind = "window"
    gives_objects = True
    keyed: ClassVar[bool] = True

    assigner: WindowAssigner[Any, Any]
    trigger: Trigger[Any, Any]
    mode: WindowMode
    function: Any = None
    window_function: Any = None
    allowed_lateness: int = 0
    late_tag: OutputTag | None = None
    input_type: TypeInformation | None = None
    accumulator_type: TypeInformation | None = None
    by_key: bool = True

    def check(self, who: str) -> None:
        """Require the functions of the mode."""
        plain: type = WindowFunction if self.by_key else AllWindowFunction
        rich: type = ProcessWindowFunction if self.by_key else ProcessAllWindowFunction
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
