"""What functions of the user's compute gets an operator of its own, because the kernel has none of them.

    Project(f(a + 1) * 2)  =>  Project(f0 * 2) over PythonCalc(f($f1) AS f0) over Project(a, a + 1 AS $f1)

Conditions that need none of them are asked first. Equal calls are computed once, unless the function may give another
result each time. Source: Flink's PythonCalcSplitRule and SplitPythonConditionFromJoinRule.
"""

from __future__ import annotations

from dataclasses import replace

from firesteel.relational.expressions import Expression
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, Watermark, transformed
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.logical.temporal_joins import TemporalJoin
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.calls_in_matches import calls_in, with_calls_around
from firesteel.relational.rules.computed_calls import Computed, refused
from firesteel.relational.rules.substitution import ALWAYS, all_of, calls_user, conjuncts, refs


def split_python_calls(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Compute calls of the user's functions before what reads their results."""
    return transformed(plan, _split)


def _split(node: LogicalNode) -> LogicalNode:
    match node:
        case Project() if any(map(calls_user, node.expressions)):
            made = Computed(node.input, node.expressions)
            return Project(made.node, tuple(made.values), node.names, place=node.place)
        case Filter() if calls_user(node.condition):
            return _filtered(node)
        case Join() | TemporalJoin() if calls_user(node.condition):
            return _joined(node)
        case Correlate() if node.condition is not None and calls_user(node.condition):
            raise refused(node.condition, "ON of a LEFT JOIN")
        case Watermark() if calls_user(node.expression):
            raise refused(node.expression, "a watermark")
        case MatchRecognize() if calls_in(node):
            return _split(with_calls_around(node))
    return node


def _filtered(node: Filter) -> LogicalNode:
    plain, calling = _parted(node.condition)
    below = Filter(node.input, all_of(plain), place=node.place) if plain else node.input
    made = Computed(below, calling)
    kept = Filter(made.node, all_of(made.values), place=node.place)
    row = node.row
    return Project(kept, refs(row, range(len(row.fields))), tuple(row.field_names))


def _joined(node: Join | TemporalJoin) -> LogicalNode:
    """Return an inner join with what calls functions asked behind it."""
    plain, calling = _parted(node.condition)
    if node.kind != "INNER":
        raise refused(calling[0], "ON of an outer join, or of IN and EXISTS")
    return _filtered(Filter(replace(node, condition=all_of(plain or [ALWAYS])), all_of(calling)))


def _parted(condition: Expression) -> tuple[list[Expression], list[Expression]]:
    """Return the parts of a condition that call no function of the user's, and those that do."""
    parts = conjuncts(condition)
    return [part for part in parts if not calls_user(part)], [part for part in parts if calls_user(part)]
