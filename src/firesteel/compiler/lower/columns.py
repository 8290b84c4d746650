"""Recipes of the operations on columns."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.graph import Node
from firesteel.graph.operations import LimitOp, SortOp
from firesteel.runtime.columns.sorting import LimitOperator, SortOperator


@recipe.register
def _(operation: SortOp, node: Node, batch: bool) -> Recipe:
    return partial(SortOperator, operation.sort)


@recipe.register
def _(operation: LimitOp, node: Node, batch: bool) -> Recipe:
    return partial(LimitOperator, operation.limit)
