"""Recipes of the operations on one stream."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.functions.adapt import as_function
from firesteel.functions.elements import FilterFunction, FlatMapFunction, MapFunction, ReduceFunction
from firesteel.graph import Node
from firesteel.graph.operations import (
    AggregateFieldOp,
    AsyncOp,
    FilterOp,
    FlatMapOp,
    KeyedProcessOp,
    MapOp,
    ProcessOp,
    ProjectOp,
    ReduceOp,
)
from firesteel.runtime.fields import FieldReducer
from firesteel.runtime.rows.async_wait import AsyncOperator
from firesteel.runtime.rows.process import ProcessOperator
from firesteel.runtime.rows.reduce import ReduceOperator
from firesteel.runtime.rows.stateless import (
    FilterOperator,
    FlatMapOperator,
    MapOperator,
    ProjectFunction,
)


@recipe.register
def _(operation: MapOp, node: Node, batch: bool) -> Recipe:
    return partial(MapOperator, as_function(operation.function, MapFunction, "map", node.who))


@recipe.register
def _(operation: FlatMapOp, node: Node, batch: bool) -> Recipe:
    return partial(FlatMapOperator, as_function(operation.function, FlatMapFunction, "flat_map", node.who))


@recipe.register
def _(operation: FilterOp, node: Node, batch: bool) -> Recipe:
    return partial(FilterOperator, as_function(operation.function, FilterFunction, "filter", node.who))


@recipe.register
def _(operation: ProjectOp, node: Node, batch: bool) -> Recipe:
    return partial(MapOperator, ProjectFunction(operation.positions))


@recipe.register(ProcessOp)
@recipe.register(KeyedProcessOp)
def _(operation: ProcessOp | KeyedProcessOp, node: Node, batch: bool) -> Recipe:
    return partial(ProcessOperator, operation.function)


@recipe.register
def _(operation: ReduceOp, node: Node, batch: bool) -> Recipe:
    function = as_function(operation.function, ReduceFunction, "reduce", node.who)
    return partial(ReduceOperator, function, node.output_type, batch)


@recipe.register
def _(operation: AggregateFieldOp, node: Node, batch: bool) -> Recipe:
    function = FieldReducer(operation.method, operation.position)
    return partial(ReduceOperator, function, node.output_type, batch)


@recipe.register
def _(operation: AsyncOp, node: Node, batch: bool) -> Recipe:
    return partial(
        AsyncOperator,
        operation.function,
        operation.timeout,
        operation.capacity,
        operation.ordered,
        operation.retry_strategy,
    )
