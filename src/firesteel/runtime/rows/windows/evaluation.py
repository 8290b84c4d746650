"""From the functions of a windowed stream to what the window operator does: keep contents, and evaluate them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from firesteel.functions.adapt import as_function
from firesteel.functions.base import Function
from firesteel.functions.elements import AggregateFunction, ReduceFunction
from firesteel.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.runtime.rows.windows.contents import (
    AggregateContents,
    ListContents,
    ReduceContents,
    WindowContents,
)
from firesteel.runtime.rows.windows.context import ProcessContext
from firesteel.state.live.backend import KeyedStateBackend

WindowMode = Literal["reduce", "aggregate", "apply", "process"]
Evaluate = Callable[[Any, Any, list[Any]], Any]
"""Gives the results of a window from its key, the window and its contents: None or an iterable."""


@dataclass(frozen=True, slots=True)
class WindowLogic:
    """The functions of a windowed stream, as the program gave them, and the types of what they keep.

    `function` is the reduce or aggregate function of these modes, `window_function` what sees the contents: required in
    the modes "apply" and "process". Without keys it is of the kind that is not told a key.
    """

    mode: WindowMode
    function: Any = None
    window_function: Any = None
    input_type: Any = None
    accumulator_type: Any = None
    keyed: bool = True


def make_contents(
    logic: WindowLogic, backend: KeyedStateBackend, who: str
) -> tuple[WindowContents, Function | None]:
    """Return what holds the windows' contents, and the function in it, which is not opened yet."""
    if logic.mode == "reduce":
        reducer = as_function(logic.function, ReduceFunction, "reduce", who)
        return ReduceContents(backend, reducer, logic.input_type, who), reducer
    if logic.mode == "aggregate":
        aggregator = as_function(logic.function, AggregateFunction, None, who)
        return AggregateContents(backend, aggregator, logic.accumulator_type, who), aggregator
    return ListContents(backend, logic.input_type), None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How to evaluate a window; `clear` is the function's own where it has one, `function` is not opened yet."""

    evaluate: Evaluate
    clear: Callable[[ProcessContext], Any] | None = None
    function: Function | None = None


def make_evaluation(logic: WindowLogic, context: ProcessContext, who: str) -> Evaluation:
    """Return how the contents of a window become results."""
    if logic.window_function is None:
        return Evaluation(_contents_as_they_are)
    if hasattr(logic.window_function, "process"):
        return _with_context(logic, context, who)
    if logic.keyed:
        keyed: WindowFunction[Any, Any, Any, Any] = as_function(
            logic.window_function, WindowFunction, "apply", who
        )
        return Evaluation(keyed.apply, None, keyed)
    plain: AllWindowFunction[Any, Any, Any] = as_function(
        logic.window_function, AllWindowFunction, "apply", who
    )
    apply = plain.apply

    def evaluate(_key: Any, window: Any, contents: list[Any]) -> Any:
        return apply(window, contents)

    return Evaluation(evaluate, None, plain)


def _with_context(logic: WindowLogic, context: ProcessContext, who: str) -> Evaluation:
    if logic.keyed:
        keyed: ProcessWindowFunction[Any, Any, Any, Any] = as_function(
            logic.window_function, ProcessWindowFunction, None, who
        )
        process = keyed.process

        def evaluate(key: Any, _window: Any, contents: list[Any]) -> Any:
            return process(key, context, contents)

        return Evaluation(evaluate, keyed.clear, keyed)
    plain: ProcessAllWindowFunction[Any, Any, Any] = as_function(
        logic.window_function, ProcessAllWindowFunction, None, who
    )
    process_all = plain.process

    def evaluate_all(_key: Any, _window: Any, contents: list[Any]) -> Any:
        return process_all(context, contents)

    return Evaluation(evaluate_all, plain.clear, plain)


def _contents_as_they_are(_key: Any, _window: Any, contents: list[Any]) -> Any:
    return contents
