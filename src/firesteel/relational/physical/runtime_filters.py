"""In BATCH mode, rows whose group will have no partner in a join are left out before they are aggregated.

    Join over a (everywhere), aggregate by x over b  =>  Join over a, aggregate by x over (b SEMI JOIN a)

The small side of such a join is in every subtask anyway. Rows of the other side that equal none of it in the keys make
groups that the join drops, so most of the work of an aggregate can be spared if few keys are wanted, as in correlated
subqueries. Source: Flink's FlinkRuntimeFilterProgram, which puts its filters below aggregates in the same way; Bloom
filters stand there for the rows of the small side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from firesteel.relational.estimates.plans import Estimator
from firesteel.relational.expressions import InputRef
from firesteel.relational.logical.joins import key_condition
from firesteel.relational.physical.grouping import GroupAggregate
from firesteel.relational.physical.joins import Join
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc, Exchange
from firesteel.relational.physical.once import OncePerNode
from firesteel.relational.rules.substitution import all_of

_ENOUGH: Final = 1 << 18
"""Rows that are aggregated quickly enough as they are."""

_GAIN: Final = 2
"""So many times fewer rows are worth the look at each."""

Keys = Mapping[int, int]
"""Places of columns of the side that stays, by those of the columns that must be equal."""


def with_runtime_filters(plans: Sequence[PhysicalNode]) -> list[PhysicalNode]:
    """Return the plans, with the sides of joins chosen, with such filters; parts of several plans stay shared."""
    filters = _Filters(plans)
    return [filters.of(plan) for plan in plans]


class _Filters:
    def __init__(self, plans: Sequence[PhysicalNode]) -> None:
        self._readers = Counter(_read(plans))
        self._estimator = Estimator()
        self.of = OncePerNode(self._filtered)

    def _filtered(self, node: PhysicalNode) -> PhysicalNode:
        below = node.inputs
        if isinstance(node, Join) and node.is_broadcast and node.kind in ("INNER", "SEMI"):
            below = self._with_filter(node)
        inputs = tuple(map(self.of, below))
        if all(new is old for new, old in zip(inputs, node.inputs, strict=True)):
            return node
        return node.with_inputs(inputs)

    def _with_filter(self, join: Join) -> tuple[PhysicalNode, ...]:
        """Return the inputs of a join, one of them with a filter if it is worth it."""
        inputs, stays = [*join.inputs], join.build or 0
        small, meets = inputs[stays], 1 - stays
        keys = {key[meets]: key[stays] for key in join.keys if not key[2]}
        inputs[meets] = self._sifted(inputs[meets], keys, small) or inputs[meets]
        return tuple(inputs)

    def _sifted(self, node: PhysicalNode, keys: Keys, small: PhysicalNode) -> PhysicalNode | None:
        """Return what a node would be without most rows that have none of the keys; None if that is no gain."""
        if not keys or self._readers[id(node)] > 1:
            return None
        if isinstance(node, Exchange):
            below = None if node.everywhere else self._sifted(node.input, keys, small)
        elif isinstance(node, Calc):
            columns = dict(enumerate(node.expressions))
            passed = {
                column.index: key
                for place, key in keys.items()
                if isinstance(column := columns[place], InputRef)
            }
            below = self._sifted(node.input, passed, small)
        elif isinstance(node, GroupAggregate):
            grouped = node.aggregate.keys if node.phase != "global" else range(len(node.aggregate.keys))
            passed = {grouped[place]: key for place, key in keys.items() if place < len(grouped)}
            below = self._before(node, passed, small)
        else:
            return None
        return None if below is None else node.with_inputs((below,))

    def _before(self, aggregate: GroupAggregate, keys: Keys, small: PhysicalNode) -> PhysicalNode | None:
        """Return the input of an aggregate without those rows."""
        if aggregate.phase == "global":
            return self._sifted(aggregate.input, keys, small)
        if not keys:
            return None
        exchanged = isinstance(aggregate.input, Exchange)
        given = aggregate.input.inputs[0] if exchanged else aggregate.input
        made = _partners(given, small, keys)
        before, after = self._estimator.of(given), self._estimator.of(made)
        if not before.known or before.rows < _ENOUGH or before.rows < _GAIN * after.rows:
            return None
        return aggregate.input.with_inputs((made,)) if exchanged else made


def _partners(given: PhysicalNode, small: PhysicalNode, keys: Keys) -> Join:
    """Return those rows that have a partner in the small side."""
    places = tuple((mine, theirs, False) for mine, theirs in keys.items())
    equal = all_of([key_condition(place, given.row, small.row) for place in places])
    return Join(given, small, "SEMI", equal, places, None, given.row, build=1, place=given.place)


def _read(plans: Sequence[PhysicalNode]) -> list[int]:
    """Return the identity of each input of each node, as often as it is one."""
    found: list[int] = []

    def look(node: PhysicalNode) -> None:
        found.extend(map(id, node.inputs))
        for below in node.inputs:
            of(below)

    of = OncePerNode(look)
    for plan in plans:
        of(plan)
    return found
