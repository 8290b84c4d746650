"""From an operation of the graph to the recipe of the operator that runs it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.adapt import as_function
from firesteel.functions.elements import (
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    ReduceFunction,
)
from firesteel.graph import Node
from firesteel.graph.operations import (
    AggregateFieldOp,
    AsyncOp,
    BroadcastProcessOp,
    CoFlatMapOp,
    CoMapOp,
    CoProcessOp,
    FilterOp,
    FlatMapOp,
    KeyedBroadcastProcessOp,
    KeyedCoProcessOp,
    KeyedProcessOp,
    MapOp,
    Operation,
    ProcessOp,
    ProjectOp,
    ReduceOp,
    SinkOp,
    SourceOp,
    TimestampsOp,
    WindowOp,
)
from firesteel.runtime.fields import FieldReducer
from firesteel.runtime.operator import Operator
from firesteel.runtime.rows.async_wait import AsyncOperator
from firesteel.runtime.rows.batch import BatchOperator
from firesteel.runtime.rows.broadcast import BroadcastOperator
from firesteel.runtime.rows.co import CoFlatMapOperator, CoMapOperator, CoProcessOperator
from firesteel.runtime.rows.process import ProcessOperator
from firesteel.runtime.rows.reduce import ReduceOperator
from firesteel.runtime.rows.sink import SinkOperator
from firesteel.runtime.rows.source import SourceOperator
from firesteel.runtime.rows.stateless import (
    FilterOperator,
    FlatMapOperator,
    MapOperator,
    ProjectFunction,
)
from firesteel.runtime.rows.timestamps import TimestampsOperator
from firesteel.runtime.rows.windows.operator import WindowOperator

Recipe = Callable[[], Operator]


def keyed_in_batch_mode(inner: Recipe) -> Recipe:
    """Return the recipe for a keyed operator in BATCH mode."""
    return partial(_batch, inner)


def _batch(inner: Recipe) -> Operator:
    return BatchOperator(inner())


@singledispatch
def recipe(operation: Operation, node: Node, batch: bool) -> Recipe:
    """Return a picklable recipe for the operator of `operation`; `batch` is the job's runtime mode."""
    raise AssertionError(f"no operator for {type(operation).__name__}")


@recipe.register
def _(operation: SourceOp, node: Node, batch: bool) -> Recipe:
    strategy = operation.strategy or WatermarkStrategy.no_watermarks()
    return partial(SourceOperator, operation.source, strategy)


@recipe.register
def _(operation: MapOp, node: Node, batch: bool) -> Recipe:
    return partial(MapOperator, as_function(operation.function, MapFunction, "map", node.who))


@recipe.register
def _(operation: FlatMapOp, node: Node, batch: bool) -> Recipe:
    return partial(FlatMapOperator, as_function(operation.function, FlatMapFunction, "flat_map", node.who))


@recipe.register
def _(operation: FilterOp, node: Node, batch: bool) -> Recipe:
    return partial(FilterOperator, as_function(operation.function, FilterFunction, "filter", node.who))


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
def _(operation: CoMapOp, node: Node, batch: bool) -> Recipe:
    return partial(CoMapOperator, operation.function)


@recipe.register
def _(operation: CoFlatMapOp, node: Node, batch: bool) -> Recipe:
    return partial(CoFlatMapOperator, operation.function)


@recipe.register(CoProcessOp)
@recipe.register(KeyedCoProcessOp)
def _(operation: CoProcessOp | KeyedCoProcessOp, node: Node, batch: bool) -> Recipe:
    return partial(CoProcessOperator, operation.function)


@recipe.register(BroadcastProcessOp)
@recipe.register(KeyedBroadcastProcessOp)
def _(operation: BroadcastProcessOp | KeyedBroadcastProcessOp, node: Node, batch: bool) -> Recipe:
    return partial(BroadcastOperator, operation.function, operation.descriptors)


@recipe.register
def _(operation: WindowOp, node: Node, batch: bool) -> Recipe:
    return partial(
        WindowOperator,
        assigner=operation.assigner,
        trigger=operation.trigger,
        mode=operation.mode,
        function=_reducer(operation, node),
        window_function=operation.window_function,
        allowed_lateness=operation.allowed_lateness,
        late_tag=operation.late_tag,
        input_type=operation.input_type,
        accumulator_type=operation.accumulator_type,
        keyed=operation.keyed,
    )


def _reducer(operation: WindowOp, node: Node) -> Any:
    if operation.mode == "reduce":
        return as_function(operation.function, ReduceFunction, "reduce", node.who)
    return operation.function


@recipe.register
def _(operation: TimestampsOp, node: Node, batch: bool) -> Recipe:
    return partial(TimestampsOperator, operation.strategy)


@recipe.register
def _(operation: ProjectOp, node: Node, batch: bool) -> Recipe:
    return partial(MapOperator, ProjectFunction(operation.positions))


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


@recipe.register
def _(operation: SinkOp, node: Node, batch: bool) -> Recipe:
    return partial(SinkOperator, operation.sink)
