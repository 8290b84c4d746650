"""What the operators of a physical plan cost, as `EXPLAIN ESTIMATED_COST` shows it.

The units and weights are Flink's (FlinkCost): `rows` and `cpu` count rows and the work on them, where hashing a field
is 8, comparing two 4 and calling a function 12; `io`, `network` and `memory` are bytes that are read, sent and kept.
What is counted is what Firesteel's operators do, so the numbers are not Flink's.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from math import log
from typing import Final, NamedTuple

from firesteel.common.typeinfo.java_text import double_text
from firesteel.relational.estimates.plans import Estimator
from firesteel.relational.estimates.sizes import Estimate
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.physical.grouping import GroupAggregate, WindowAggregate
from firesteel.relational.physical.joins import AnyJoin
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc, Exchange, Values
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.sorting import Sort
from firesteel.relational.rules.substitution import conjuncts

_HASH: Final = 8
_COMPARE: Final = 4
_FUNCTION: Final = 12


class Cost(NamedTuple):
    """What work takes."""

    rows: float = 0.0
    cpu: float = 0.0
    io: float = 0.0
    network: float = 0.0
    memory: float = 0.0

    def __str__(self) -> str:
        parts = (f"{double_text(value)} {name}" for name, value in zip(self._fields, self, strict=True))
        return f"{{{', '.join(parts)}}}"


class Costs:
    """The costs of nodes; a part of several plans counts for each of them."""

    def __init__(self) -> None:
        self._sizes = Estimator()

    def of(self, node: PhysicalNode) -> Cost:
        """Return the cost of a node and of all below it."""
        below = [self._sizes.of(given) for given in node.inputs]
        return _total([_own(node, self._sizes.of(node), *below), *map(self.of, node.inputs)])

    def text(self, node: PhysicalNode) -> str:
        """Return the rows and the cost of a node as Flink writes them behind it."""
        rows = double_text(float(self._sizes.of(node).rows))
        return f": rowcount = {rows}, cumulative cost = {self.of(node)}"


def _total(costs: Iterable[Cost]) -> Cost:
    return Cost(*map(sum, zip(*costs, strict=True)))


@singledispatch
def _own(node: PhysicalNode, made: Estimate, *given: Estimate) -> Cost:
    """Return what a node costs by itself; most look at each of their rows once, and keep what they say they do."""
    rows = float(sum(one.rows for one in given))
    return Cost(rows, rows, memory=sum(one.size for one in given) if node.state else 0.0)


@_own.register(TableSourceScan)
@_own.register(Values)
def _(node: TableSourceScan | Values, made: Estimate) -> Cost:
    return Cost(float(made.rows), float(made.rows), io=made.size)


@_own.register
def _(node: Calc, made: Estimate, given: Estimate) -> Cost:
    conditions = [] if node.condition is None else conjuncts(node.condition)
    work = given.rows * sum(map(_functions, conditions)) + made.rows * sum(map(_functions, node.expressions))
    return Cost(float(given.rows), float(work))


def _functions(expression: Expression) -> int:
    """Return how many values an expression computes."""
    inner = sum(map(_functions, expression.operands))
    return inner if isinstance(expression, InputRef) or not expression.operands else inner + 1


@_own.register
def _(node: Exchange, made: Estimate, given: Estimate) -> Cost:
    return Cost(float(made.rows), float(made.rows * max(_HASH * len(node.keys), 1)), network=made.size)


@_own.register(GroupAggregate)
@_own.register(WindowAggregate)
def _(node: GroupAggregate | WindowAggregate, made: Estimate, given: Estimate) -> Cost:
    work = _HASH * len(node.aggregate.keys) + _FUNCTION * len(node.aggregate.aggregations)
    return Cost(float(given.rows), float(given.rows * work), memory=made.size)


@_own.register
def _(node: Sort, made: Estimate, given: Estimate) -> Cost:
    compared = given.rows * max(log(max(given.rows, 1.0)), 1.0) * len(node.order)
    return Cost(float(given.rows), _COMPARE * compared, memory=given.size)


@_own.register
def _(node: AnyJoin, made: Estimate, left: Estimate, right: Estimate) -> Cost:
    rows = left.rows + right.rows
    pairs = made.rows if node.keys else left.rows * right.rows
    asked = 0 if node.rest is None else _functions(node.rest)
    work = rows * _HASH * len(node.keys) + pairs * max(asked, 1)
    return Cost(float(rows), float(work), memory=left.size + right.size)
