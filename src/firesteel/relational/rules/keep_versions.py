"""A temporal join meets all rows that a deduplication has ever kept, and not only those at the end of an epoch.

    TemporalJoin with Rank(the last row by row time)  =>  TemporalJoin with Versions

Source: Flink's deduplication gives each new row as it comes, unless 'table.exec.deduplicate.mini-batch.compact-changes'
is set.
"""

from __future__ import annotations

from firesteel.common.logical_types.temporal import is_rowtime
from firesteel.relational.expressions import Literal
from firesteel.relational.logical.derived import Rank
from firesteel.relational.logical.nodes import LogicalNode, Project, transformed
from firesteel.relational.logical.temporal_joins import TemporalJoin, Versions
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.carried_windows import ranks_windows
from firesteel.relational.rules.substitution import refs, substituted


def keep_versions(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Let all temporal joins in event time have the versions of what they join with."""
    return transformed(plan, _kept)


def _kept(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, TemporalJoin) or node.looks_up:
        return node
    return node.with_inputs((node.left, _versioned(node.right)))


def _versioned(node: LogicalNode) -> LogicalNode:
    if isinstance(node, Project):
        below = node.input
        if isinstance(below, Rank) and _is_last_row(below):
            return _without_rank(node, below)
        return node.with_inputs((_versioned(below),))
    return node


def _without_rank(node: Project, rank: Rank) -> LogicalNode:
    """Return the columns of a rank's rows, of which the rank itself is always 1."""
    width = len(rank.input.row.fields)
    made: LogicalNode = Versions(rank.input, rank.partition, rank.order[0].index, place=rank.place)
    one = Literal(rank.row.fields[width].type, 1)
    columns = tuple(
        substituted(value, (*refs(rank.input.row, range(width)), one)) for value in node.expressions
    )
    return Project(made, columns, node.names)


def _is_last_row(rank: Rank) -> bool:
    """Return whether a rank keeps the last row of each partition by its row time; one within windows waits for them."""
    if (
        ranks_windows(rank)
        or len(rank.order) != 1
        or rank.function != "ROW_NUMBER"
        or not rank.start == rank.end == 1
    ):
        return False
    (key,) = rank.order
    return not key.ascending and is_rowtime(rank.input.row.fields[key.index].type)
