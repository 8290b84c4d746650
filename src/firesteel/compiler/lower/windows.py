"""The recipe of windows, and their functions."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.functions.adapt import as_function
from firesteel.functions.base import Function
from firesteel.functions.elements import AggregateFunction, ReduceFunction
from firesteel.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.graph import Node
from firesteel.graph.operations import WindowOp
from firesteel.runtime.rows.windows.operator import WindowOperator


@recipe.register
def _(operation: WindowOp, node: Node, batch: bool) -> Recipe:
    return partial(
        WindowOperator,
        assigner=operation.assigner,
        trigger=operation.trigger,
        mode=operation.mode,
        function=_folding(operation, node.who),
        window_function=_evaluating(operation, node.who),
        allowed_lateness=operation.allowed_lateness,
        late_tag=operation.late_tag,
        input_type=operation.input_type,
        accumulator_type=operation.accumulator_type,
        keyed=operation.by_key,
    )


def _folding(operation: WindowOp, who: str) -> Function | None:
    """Return the function that reduces a window's contents; None if all its records are kept."""
    if operation.mode == "reduce":
        return as_function(operation.function, ReduceFunction, "reduce", who)
    if operation.mode == "aggregate":
        return as_function(operation.function, AggregateFunction, None, who)
    return None


def _evaluating(operation: WindowOp, who: str) -> Function | None:
    """Return the function that receives a window's contents; None if the contents are the result."""
    function = operation.window_function
    if function is None:
        return None
    if hasattr(function, "process"):
        if operation.by_key:
            return as_function(function, ProcessWindowFunction, None, who)
        return as_function(function, ProcessAllWindowFunction, None, who)
    if operation.by_key:
        return as_function(function, WindowFunction, "apply", who)
    return as_function(function, AllWindowFunction, "apply", who)
