"""Turns the functions of a windowed stream into the two parts of a window operator: contents and evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from firesteel.functions.base import Function
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
"""Returns the results of a window from its key, the window and its contents: None or an iterable."""


@dataclass(frozen=True, slots=True)
class WindowLogic:
    """The functions of a windowed stream, as function objects, and the types of the values that they keep.

    `function` is the ReduceFunction or AggregateFunction of these modes. `window_function` gets the contents; it is
    required in the modes "apply" and "process". With keys it is a (Process)WindowFunction, without a
    (Process)AllWindowFunction.
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
    """Return the contents of the windows, and the function in them, which is not opened yet."""
    function = logic.function
    if logic.mode == "reduce":
        return ReduceContents(backend, function, logic.input_type, who), function
    if logic.mode == "aggregate":
        return AggregateContents(backend, function, logic.accumulator_type, who), function
    return ListContents(backend, logic.input_type), None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How to evaluate a window; `clear` is the function's own method if it has one, `function` is not opened yet."""

    evaluate: Evaluate
    clear: Callable[[ProcessContext], Any] | None = None
    function: Function | None = None


def make_evaluation(logic: WindowLogic, context: ProcessContext) -> Evaluation:
    """Return how to turn the contents of a window into results."""
    function = logic.window_function
    if function is None:
        return Evaluation(_contents_as_they_are)
    if hasattr(function, "process"):
        return _with_context(function, context, logic.keyed)
    apply = function.apply
    if logic.keyed:
        return Evaluation(apply, None, function)

    def evaluate(_key: Any, window: Any, contents: list[Any]) -> Any:
        return apply(window, contents)

    return Evaluation(evaluate, None, function)


def _with_context(function: Any, context: ProcessContext, keyed: bool) -> Evaluation:
    process = function.process

    def evaluate(key: Any, _window: Any, contents: list[Any]) -> Any:
        return process(key, context, contents)

    def evaluate_all(_key: Any, _window: Any, contents: list[Any]) -> Any:
        return process(context, contents)

    return Evaluation(evaluate if keyed else evaluate_all, function.clear, function)


def _contents_as_they_are(_key: Any, _window: Any, contents: list[Any]) -> Any:
    return contents
