"""What depends on no column is computed once, when the query is planned; a condition that is always true goes."""

from __future__ import annotations

from dataclasses import replace

from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.folding import folded
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, Watermark, transformed
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.logical.temporal_joins import TemporalJoin
from firesteel.relational.options import PlanOptions


def fold_constants(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Fold the constants of all expressions."""

    def done(expression: Expression) -> Expression:
        return folded(expression, options.zone)

    def changed(node: LogicalNode) -> LogicalNode:
        if isinstance(node, Project):
            return replace(node, expressions=tuple(map(done, node.expressions)))
        if isinstance(node, Watermark):
            return replace(node, expression=done(node.expression))
        if isinstance(node, Join | TemporalJoin):
            return replace(node, condition=done(node.condition))
        if isinstance(node, MatchRecognize):
            definitions = (replace(one, condition=done(one.condition)) for one in node.definitions)
            return replace(node, definitions=tuple(definitions), measures=tuple(map(done, node.measures)))
        if isinstance(node, Correlate) and node.condition is not None:
            return replace(node, condition=done(node.condition))
        if isinstance(node, Filter):
            condition = done(node.condition)
            always = isinstance(condition, Literal) and condition.value is True
            return node.input if always else replace(node, condition=condition)
        return node

    return transformed(plan, changed)
