"""Aggregates of BATCH mode compute the rows that they add up before the exchange, instead of an operator of its own."""

from __future__ import annotations

from firesteel.functions.columns.program import Program
from firesteel.graph.operations import LocalAggregateOp
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.grouping import GroupAggregate
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc
from firesteel.relational.rules.substitution import refs
from firesteel.relational.translation import program


def aggregated(plan: PhysicalNode, options: PlanOptions) -> PhysicalNode | None:
    """Return whose rows a node computes itself before it adds them up; None if it is no such node."""
    if not options.batch or not isinstance(plan, GroupAggregate) or plan.phase != "local":
        return None
    return plan.input.input if isinstance(plan.input, Calc) else plan.input


def local_aggregate(plan: GroupAggregate, options: PlanOptions) -> LocalAggregateOp:
    """Return the operation before the exchange, with what it computes of the rows of `aggregated`."""
    given = aggregated(plan, options)
    return LocalAggregateOp(plan.aggregate, None if given is None else _computed(plan.input, given, options))


def _computed(plan: PhysicalNode, given: PhysicalNode, options: PlanOptions) -> Program:
    names = plan.row.field_names
    if isinstance(plan, Calc):
        return program(given.row, plan.expressions, names, plan.condition, options.zone)
    return program(given.row, refs(given.row, range(len(names))), names, None, options.zone)
