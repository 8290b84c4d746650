"""Recipes of the operations on two streams."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.graph import Node
from firesteel.graph.operations import (
    BroadcastProcessOp,
    CoFlatMapOp,
    CoMapOp,
    CoProcessOp,
    KeyedBroadcastProcessOp,
    KeyedCoProcessOp,
)
from firesteel.runtime.rows.broadcast import BroadcastOperator
from firesteel.runtime.rows.co import CoFlatMapOperator, CoMapOperator, CoProcessOperator


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
