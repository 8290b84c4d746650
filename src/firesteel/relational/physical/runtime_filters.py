"""In BATCH mode, rows that will have no partner in a join are left out before they are aggregated or sent.

    Join over a (everywhere), aggregate by x over b  =>  Join over a, aggregate by x over (b SEMI JOIN a)
    Join over Exchange over (c JOIN a (everywhere)), Exchange over b
        =>  Join over Exchange over (c JOIN a), Exchange over (b SEMI JOIN a)

A small side of a join is in every subtask anyway. Rows of another side that equal none of it in a key of the join are
not in its result, so most of the work on them can be spared if few keys are wanted, as in correlated subqueries and in
joins of large tables of which one has met a small one. Source: Flink's FlinkRuntimeFilterProgram, which puts its
filters below aggregates and exchanges in the same way; Bloom filters stand there for the rows of the small side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
"""Rows that are aggregated or sent quickly enough as they are."""

_GAIN: Final = 2
"""So many times fewer rows are worth the look at each."""

Keys = Mapping[int, int]
"""Places of columns of the small side, by those of the columns that must be equal."""


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
        if isinstance(node, Join) and node.build is not None and node.kind in ("INNER", "SEMI"):
            below = self._with_filter(node, node.build)
        inputs = tuple(map(self.of, below))
        if all(new is old for new, old in zip(inputs, node.inputs, strict=True)):
            return node
        return node.with_inputs(inputs)

    def _with_filter(self, join: Join, stays: int) -> tuple[PhysicalNode, ...]:
        """Return the inputs of a join; that of the rows that meet those that stay has a filter if it is worth it."""
        inputs, meets = [*join.inputs], 1 - stays
        keys = {key[meets]: key[stays] for key in join.keys if not key[2]}
        if join.is_broadcast:
            inputs[meets] = self._sifted(inputs[meets], keys, inputs[stays]) or inputs[meets]
        else:
            inputs[meets] = self._sifted_before_exchange(inputs[meets], keys, inputs[stays])
        return tuple(inputs)

    def _sifted_before_exchange(self, node: PhysicalNode, keys: Keys, other: PhysicalNode) -> PhysicalNode:
        """Return a side of a join without rows that equal none of a small side from which keys of the other come."""
        if not isinstance(node, Exchange):
            return node
        for mine, theirs in keys.items():
            for small, column in _small_sides(other, theirs):
                key = {mine: column}
                made = self._sifted(node.input, key, small) or self._partners(node.input, key, small)
                if made is not None:
                    return node.with_inputs((made,))
        return node

    def _sifted(self, node: PhysicalNode, keys: Keys, small: PhysicalNode) -> PhysicalNode | None:
        """Return what a node would be without rows that have none of the keys; None if nothing is aggregated there."""
        if not keys or self._readers[id(node)] > 1:
            return None
        if isinstance(node, Exchange):
            below = None if node.everywhere else self._sifted(node.input, keys, small)
        elif isinstance(node, Calc):
            below = self._sifted(node.input, _before_calc(node, keys), small)
        elif isinstance(node, GroupAggregate):
            below = self._before(node, keys, small)
        else:
            return None
        return None if below is None else node.with_inputs((below,))

    def _before(self, aggregate: GroupAggregate, keys: Keys, small: PhysicalNode) -> PhysicalNode | None:
        """Return the input of an aggregate without those rows."""
        below = aggregate.input
        if aggregate.phase == "global":
            grouped = {place: key for place, key in keys.items() if place < len(aggregate.aggregate.keys)}
            return self._sifted(below, grouped, small)
        columns = dict(enumerate(aggregate.aggregate.keys))
        grouped = {columns[place]: key for place, key in keys.items() if place in columns}
        if not isinstance(below, Exchange):
            return self._partners(below, grouped, small)
        made = self._partners(below.input, grouped, small)
        return None if made is None else below.with_inputs((made,))

    def _partners(self, given: PhysicalNode, keys: Keys, small: PhysicalNode) -> Join | None:
        """Return those rows that have a partner in the small side; None if they are too many, or not known."""
        if not keys:
            return None
        places = tuple((mine, theirs, False) for mine, theirs in keys.items())
        equal = all_of([key_condition(place, given.row, small.row) for place in places])
        made = Join(given, small, "SEMI", equal, places, None, given.row, build=1, place=given.place)
        before, after = self._estimator.of(given), self._estimator.of(made)
        if not before.known or before.rows < _ENOUGH or before.rows < _GAIN * after.rows:
            return None
        return made


def _small_sides(node: PhysicalNode, column: int) -> Iterator[tuple[Exchange, int]]:
    """Yield relations that are in every subtask and have all values of a column of a node, with the column there."""
    if isinstance(node, Exchange):
        if node.everywhere:
            yield node, column
        else:
            yield from _small_sides(node.input, column)
    elif isinstance(node, Calc):
        for place in _before_calc(node, {column: column}):
            yield from _small_sides(node.input, place)
    elif isinstance(node, Join) and node.kind in ("INNER", "SEMI"):
        width = len(node.left.row.fields)
        columns = {(0, column) if column < width else (1, column - width)}
        for key in node.keys:
            columns |= {(0, key[0]), (1, key[1])} if columns & {(0, key[0]), (1, key[1])} else set()
        for side, place in sorted(columns):
            yield from _small_sides(node.inputs[side], place)


def _before_calc(node: Calc, keys: Keys) -> Keys:
    """Return the keys that a projection passes on, by their columns before it."""
    columns = {place: node.expressions[place] for place in keys}
    return {one.index: keys[place] for place, one in columns.items() if isinstance(one, InputRef)}


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
