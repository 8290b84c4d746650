"""In BATCH mode, the smaller side of a join stays in memory; if it is small, it is in every subtask.

    Join over Exchange by x over a, Exchange by y over b  =>  Join over a, Exchange to all over b, if b is small

Then the rows of the larger side need no exchange at all, and what follows a scan without an exchange runs with it. The
result has rows of the small side alone in one subtask only, so sides whose rows are in the result without a partner are
not sent everywhere. Source: Flink's BatchPhysicalHashJoinRule, with 'table.optimizer.join.broadcast-threshold'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from firesteel.functions.columns.joins import KEEPING, Side
from firesteel.relational.estimates.plans import Estimator
from firesteel.relational.estimates.sizes import Estimate
from firesteel.relational.physical.joins import Join
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.physical.once import OncePerNode


def with_hash_joins(plans: Sequence[PhysicalNode], most_everywhere: int) -> list[PhysicalNode]:
    """Return the plans with the side of each regular join that stays; parts of several plans stay shared.

    Sides of up to `most_everywhere` bytes are sent to every subtask.
    """
    estimator = Estimator()

    def chosen(node: PhysicalNode) -> PhysicalNode:
        inputs = tuple(map(of, node.inputs))
        made = node
        if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
            made = node.with_inputs(inputs)
        if not isinstance(node, Join) or not isinstance(made, Join):
            return made
        sizes = estimator.of(node.left), estimator.of(node.right)
        return _chosen(made, sizes, most_everywhere)

    of = OncePerNode(chosen)
    return [of(plan) for plan in plans]


def _chosen(join: Join, sizes: tuple[Estimate, Estimate], most_everywhere: int) -> Join:
    smaller: Side = 0 if sizes[0].known and sizes[0].size < sizes[1].size else 1
    for side in (smaller, _other(smaller)):
        small = sizes[side].known and sizes[side].size <= most_everywhere
        if small and _can_be_everywhere(join, side) and all(isinstance(one, Exchange) for one in join.inputs):
            return _everywhere(join, side)
    return replace(join, build=smaller)


def _everywhere(join: Join, side: Side) -> Join:
    """Return the join with a side in every subtask, and the other where it is."""
    inputs: list[PhysicalNode] = []
    for place, given in enumerate(join.inputs):
        assert isinstance(given, Exchange)
        inputs.append(replace(given, keys=(), everywhere=True) if place == side else given.input)
    return replace(join.with_inputs(tuple(inputs)), build=side)


def _can_be_everywhere(join: Join, side: Side) -> bool:
    """Return whether no row of a side is in the result by itself."""
    return not (KEEPING[join.kind][side] or (join.kind == "SEMI" and side == 0))


def _other(side: Side) -> Side:
    return 1 if side == 0 else 0
