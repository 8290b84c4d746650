"""Recipes of sources, of sinks, and of the operation that assigns timestamps."""

from __future__ import annotations

from functools import partial

from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.graph import Node
from firesteel.graph.operations import SinkOp, SourceOp, TimestampsOp
from firesteel.runtime.rows.sink import SinkOperator
from firesteel.runtime.rows.source import SourceOperator
from firesteel.runtime.rows.timestamps import TimestampsOperator


@recipe.register
def _(operation: SourceOp, node: Node, batch: bool) -> Recipe:
    strategy = operation.strategy or WatermarkStrategy.no_watermarks()
    return partial(SourceOperator, operation.source, strategy)


@recipe.register
def _(operation: TimestampsOp, node: Node, batch: bool) -> Recipe:
    return partial(TimestampsOperator, operation.strategy)


@recipe.register
def _(operation: SinkOp, node: Node, batch: bool) -> Recipe:
    return partial(SinkOperator, operation.sink)
