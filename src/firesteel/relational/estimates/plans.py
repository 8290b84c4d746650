"""The sizes of the nodes of physical plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import singledispatch

from firesteel.functions.columns.joins import KEEPING
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.relational.estimates.formulas import at_least_one, equal_pairs, groups
from firesteel.relational.estimates.selectivity import selectivity
from firesteel.relational.estimates.sizes import Column, Estimate, of_table, width_of
from firesteel.relational.expressions import Call, Expression, InputRef
from firesteel.relational.physical.grouping import GroupAggregate, WindowAggregate, WindowTableFunction
from firesteel.relational.physical.joins import AnyJoin
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc, Expand, Union, Values
from firesteel.relational.physical.once import OncePerNode
from firesteel.relational.physical.ranks import Rank
from firesteel.relational.physical.row_patterns import Match
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.sorting import Limit
from firesteel.relational.physical.window_ranks import WindowRank
from firesteel.relational.rules.substitution import conjuncts

_WINDOWS = 2.0
_OVERLAPPING = 4.0
"""How many windows a group has rows in, as Flink assumes (FlinkRelMdRowCount)."""


class Estimator:
    """Estimates nodes; each is looked at once."""

    def __init__(self) -> None:
        self._estimates = OncePerNode(lambda node: _estimated(node, *map(self.of, node.inputs)))

    def of(self, node: PhysicalNode) -> Estimate:
        """Return the size of a node's rows."""
        return self._estimates(node)


@singledispatch
def _estimated(node: PhysicalNode, *given: Estimate) -> Estimate:
    """Return the size of a node over inputs of these sizes; most nodes give a row for each, with further columns."""
    first, *_ = given
    return _extended(node, first, first.rows)


def _extended(node: PhysicalNode, given: Estimate, rows: float) -> Estimate:
    """Return so many rows with those columns of the input that the node begins with, and others of their types."""
    kinds = node.row.children
    kept = given.columns[: len(kinds)]
    more = (Column(width_of(kind), rows) for kind in kinds[len(kept) :])
    return Estimate(rows, (*kept, *more), given.known)


@_estimated.register
def _(node: TableSourceScan) -> Estimate:
    keys = [place for key in node.upsert_keys if len(key) == 1 for place in key]
    return of_table(node.row, node.statistics, keys)


@_estimated.register
def _(node: Values) -> Estimate:
    return of_table(node.row, TableStatistics(len(node.rows)))


@_estimated.register
def _(node: Calc, given: Estimate) -> Estimate:
    columns = tuple(_computed(one, given) for one in node.expressions)
    if node.condition is None:
        return replace(given, columns=columns)
    rows = at_least_one(given.rows * selectivity(conjuncts(node.condition), given.columns), given)
    return Estimate(rows, columns, given.known)


def _computed(expression: Expression, given: Estimate) -> Column:
    match expression:
        case InputRef(index=index):
            return given.columns[index]
        case Call(function="CAST", arguments=(InputRef(index=index),)):
            return replace(given.columns[index], width=width_of(expression.type))
    return Column(width_of(expression.type), given.rows)


@_estimated.register
def _(node: Expand, given: Estimate) -> Estimate:
    made = _extended(node, given, given.rows * len(node.sets))
    *columns, number = made.columns
    return replace(made, columns=(*columns, replace(number, distinct=float(len(node.sets)))))


@_estimated.register
def _(node: Union, *given: Estimate) -> Estimate:
    rows = sum(one.rows for one in given)
    columns = tuple(Column(width_of(kind), rows) for kind in node.row.children)
    return Estimate(rows, columns, all(one.known for one in given))


@_estimated.register
def _(node: GroupAggregate, given: Estimate) -> Estimate:
    if node.phase == "global":
        return _extended(node, given, given.rows if node.aggregate.keys else 1.0)
    return _grouped(node, given, node.aggregate.keys, groups(given, node.aggregate.keys))


@_estimated.register
def _(node: WindowAggregate, given: Estimate) -> Estimate:
    if node.phase == "global":
        return _extended(node, given, given.rows)
    overlaps = node.aggregate.window.shape.kind in ("hop", "cumulate")
    several = groups(given, node.aggregate.keys) * (_OVERLAPPING if overlaps else _WINDOWS)
    rows = several if overlaps else min(several, given.rows)
    return _grouped(node, given, node.aggregate.keys, rows)


def _grouped(node: PhysicalNode, given: Estimate, keys: Sequence[int], rows: float) -> Estimate:
    distinct = rows if len(keys) == 1 else None
    known = [
        replace(given.columns[key], base=rows, distinct=distinct or given.columns[key].distinct)
        for key in keys
    ]
    results = (Column(width_of(kind), rows) for kind in node.row.children[len(keys) :])
    return Estimate(rows, (*known, *results), given.known)


@_estimated.register
def _(node: WindowTableFunction, given: Estimate) -> Estimate:
    overlaps = node.table.window.shape.kind in ("hop", "cumulate")
    return _extended(node, given, given.rows * (_OVERLAPPING if overlaps else 1.0))


@_estimated.register
def _(node: Match, given: Estimate) -> Estimate:
    if node.pattern.all_rows:
        return _extended(node, given, given.rows)
    return _grouped(node, given, node.partition, given.rows)


@_estimated.register(Rank)
@_estimated.register(WindowRank)
def _(node: Rank | WindowRank, given: Estimate) -> Estimate:
    rank = node.rank if isinstance(node, Rank) else node.rank.rank
    several = groups(given, rank.keys) * max(rank.end - rank.start + 1, 0)
    return _extended(node, given, min(several, given.rows))


@_estimated.register
def _(node: Limit, given: Estimate) -> Estimate:
    rows = max(given.rows - node.offset, 0.0)
    return _extended(node, given, rows if node.fetch is None else min(rows, node.fetch))


@_estimated.register
def _(node: AnyJoin, left: Estimate, right: Estimate) -> Estimate:
    both = (*left.columns, *right.columns)
    known = left.known and right.known
    share = key_share(left, right, node.keys)
    share *= 1.0 if node.rest is None else selectivity(conjuncts(node.rest), both)
    if node.kind in ("SEMI", "ANTI"):
        partners = min(1.0, right.rows * share)
        rows = left.rows * (partners if node.kind == "SEMI" else 1 - partners)
        return Estimate(at_least_one(rows, left), left.columns, known)
    pairs = at_least_one(left.rows * right.rows * share, left, right)
    keeps_left, keeps_right = KEEPING[node.kind]
    alone = (max(left.rows - pairs, 0.0) if keeps_left else 0.0) + (
        max(right.rows - pairs, 0.0) if keeps_right else 0.0
    )
    return Estimate(pairs + alone, both[: len(node.row.fields)], known)


def key_share(left: Estimate, right: Estimate, keys: Iterable[tuple[int, int, bool]]) -> float:
    """Return the share of the pairs of rows of two relations that are equal in the keys, which are places."""
    places = list(keys)
    if not places:
        return 1.0
    return equal_pairs(
        [left.columns[one] for one, _, _ in places], [right.columns[other] for _, other, _ in places]
    )
