"""Exchanges whose rows are in their subtasks already leave them there.

    Rank by id over Exchange by id over Join on id = auction  =>  the rows stay where the join has made them

Rows with equal values in some columns are in one subtask, the one that an exchange by these columns sends them to, if
an exchange by the same columns, in the same order, has brought them there and they still have them. Source: Flink's
BATCH mode, which shows it as ``keep_input_as_is`` (BatchPhysicalExchange and ForwardForConsecutiveHashPartitioner).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from firesteel.functions.columns.joins import KEEPING
from firesteel.relational.expressions import InputRef
from firesteel.relational.physical.grouping import GroupAggregate
from firesteel.relational.physical.joins import AnyJoin, Join
from firesteel.relational.physical.node import PassingNode, PhysicalNode
from firesteel.relational.physical.nodes import Calc, Exchange
from firesteel.relational.physical.once import OncePerNode
from firesteel.relational.physical.ranks import Rank

Columns = tuple[int, ...]
"""Columns by which rows are distributed, in the order in which they are hashed."""


def with_kept_exchanges(plans: Sequence[PhysicalNode]) -> list[PhysicalNode]:
    """Return the plans with the exchanges marked that leave rows where they are; parts of several plans stay shared."""

    def marked(node: PhysicalNode) -> PhysicalNode:
        inputs = tuple(map(of, node.inputs))
        if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
            node = node.with_inputs(inputs)
        if isinstance(node, Exchange) and node.keys and node.keys in _distributed(node.input):
            return replace(node, kept=True)
        return node

    of = OncePerNode(marked)
    return [of(plan) for plan in plans]


def _distributed(node: PhysicalNode) -> frozenset[Columns]:
    """Return by which columns of its rows a node's rows are distributed over the job's subtasks."""
    if isinstance(node, Exchange):
        return frozenset([node.keys]) if node.keys else frozenset()
    if isinstance(node, AnyJoin):
        return frozenset(_of_join(node))
    if isinstance(node, GroupAggregate):
        keys = tuple(range(len(node.aggregate.keys)))
        return frozenset([keys]) if node.phase != "local" and _exchanged([node.input]) else frozenset()
    if isinstance(node, Rank | PassingNode):
        return _distributed(node.input)
    if isinstance(node, Calc):
        return frozenset(_moved(_distributed(node.input), node))
    return frozenset()


def _of_join(node: AnyJoin) -> Iterable[Columns]:
    """Yield the keys of the sides; those of a side whose rows can be missing are NULL in rows of the other one."""
    if isinstance(node, Join) and node.is_broadcast:
        stays = node.build == 1
        shift = 0 if stays else len(node.left.row.fields)
        for columns in _distributed(node.left if stays else node.right):
            yield tuple(column + shift for column in columns)
        return
    if not _exchanged(node.inputs):
        return
    keeps_left, keeps_right = KEEPING[node.kind]
    if not keeps_right:
        yield tuple(key[0] for key in node.keys)
    if not keeps_left and node.kind != "SEMI":
        width = len(node.left.row.fields)
        yield tuple(key[1] + width for key in node.keys)


def _exchanged(inputs: Iterable[PhysicalNode]) -> bool:
    return all(isinstance(given, Exchange) and given.keys for given in inputs)


def _moved(found: Iterable[Columns], node: Calc) -> Iterable[Columns]:
    """Yield columns as a projection leaves them, if it does."""
    places: dict[int, int] = {}
    for place, expression in enumerate(node.expressions):
        if isinstance(expression, InputRef):
            places.setdefault(expression.index, place)
    for columns in found:
        if places.keys() >= set(columns):
            yield tuple(places[column] for column in columns)
