"""The recipe of patterns."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.graph import Node
from firesteel.graph.operations import PatternOp
from firesteel.runtime.patterns.operator import PatternOperator


@recipe.register
def _(operation: PatternOp, node: Node, batch: bool) -> Recipe:
    return partial(
        PatternOperator,
        operation.definition,
        operation.function,
        event_time=operation.event_time,
        comparator=operation.comparator,
        late_tag=operation.late_tag,
    )
