"""The rules that make a logical plan cheaper, one file each. A rule is pure: a plan with the same rows, for less work.

They keep the names and the types of the columns of the whole plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.aggregate_windows import aggregate_windows
from firesteel.relational.rules.compute_join_keys import compute_join_keys
from firesteel.relational.rules.count_windows import count_windows
from firesteel.relational.rules.expand_averages import expand_averages
from firesteel.relational.rules.expand_grouping_sets import expand_grouping_sets
from firesteel.relational.rules.factor_alternatives import factor_alternatives
from firesteel.relational.rules.fold_constants import fold_constants
from firesteel.relational.rules.keep_versions import keep_versions
from firesteel.relational.rules.materialize_times import materialize_times
from firesteel.relational.rules.merge_projects import merge_projects
from firesteel.relational.rules.prune_columns import prune_columns
from firesteel.relational.rules.push_fields import push_fields
from firesteel.relational.rules.push_filters import push_filters
from firesteel.relational.rules.push_semi_joins import push_semi_joins
from firesteel.relational.rules.recognise_ranks import recognise_ranks
from firesteel.relational.rules.reorder_joins import reorder_joins
from firesteel.relational.rules.simplify_outer_joins import simplify_outer_joins
from firesteel.relational.rules.split_distinct import split_distinct
from firesteel.relational.rules.split_python_calls import split_python_calls

Rule = Callable[[LogicalNode, PlanOptions], LogicalNode]
"""A pure function from plan to plan."""

RULES: Final[tuple[Rule, ...]] = (
    fold_constants,
    count_windows,
    expand_grouping_sets,
    expand_averages,
    merge_projects,
    push_filters,
    factor_alternatives,
    simplify_outer_joins,
    push_filters,
    reorder_joins,
    push_semi_joins,
    compute_join_keys,
    merge_projects,
    recognise_ranks,
    aggregate_windows,
    keep_versions,
    split_distinct,
    split_python_calls,
    prune_columns,
    push_fields,
    merge_projects,
    materialize_times,
)
"""All rules, in order."""


def optimized(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Return the plan after all rules."""
    for rule in RULES:
        plan = rule(plan, options)
    return plan
