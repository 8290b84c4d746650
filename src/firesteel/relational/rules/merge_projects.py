"""Projections of projections become one; a projection that changes nothing goes.

    Project(a + 1) over Project(x AS a)  =>  Project(x + 1)

Columns with another value each time (RAND) are not computed twice.
"""

from __future__ import annotations

from firesteel.relational.expressions import InputRef
from firesteel.relational.logical.nodes import LogicalNode, Project, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import can_be_inlined, substituted


def merge_projects(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Merge neighbouring projections."""
    return transformed(plan, _merged)


def _merged(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Project):
        return node
    below = node.input
    if isinstance(below, Project) and can_be_inlined(below.expressions, node.expressions):
        expressions = tuple(substituted(expression, below.expressions) for expression in node.expressions)
        return _merged(Project(below.input, expressions, node.names))
    return below if _changes_nothing(node) else node


def _changes_nothing(node: Project) -> bool:
    fields = node.input.row.fields
    return len(fields) == len(node.expressions) and all(
        isinstance(expression, InputRef) and expression.index == place and name == fields[place].name
        for place, (expression, name) in enumerate(zip(node.expressions, node.names, strict=True))
    )
