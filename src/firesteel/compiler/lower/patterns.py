"""The recipes of patterns."""

from __future__ import annotations

from functools import partial

from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.graph import Node
from firesteel.graph.operations import DynamicPatternsOp, ManyPatternsOp, PatternOp
from firesteel.runtime.patterns.many.dynamic import DynamicPatternsOperator
from firesteel.runtime.patterns.many.operator import ManyPatternsOperator
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


@recipe.register
def _(operation: ManyPatternsOp, node: Node, batch: bool) -> Recipe:
    return partial(
        ManyPatternsOperator,
        operation.patterns,
        event_time=operation.event_time,
        comparator=operation.comparator,
        late_tag=operation.late_tag,
    )


@recipe.register
def _(operation: DynamicPatternsOp, node: Node, batch: bool) -> Recipe:
    return partial(
        DynamicPatternsOperator,
        operation.source,
        operation.functions,
        rejected_tag=operation.rejected_tag,
        strict=operation.strict,
        event_time=operation.event_time,
        comparator=operation.comparator,
        late_tag=operation.late_tag,
    )
