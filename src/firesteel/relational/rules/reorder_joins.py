"""In BATCH mode, inner joins are done in the order in which the fewest rows come out of them.

    (a JOIN b ON a.x = b.x) JOIN c ON b.y = c.y  =>  a JOIN (b JOIN c), if fewer rows of b have a partner in c

Only with 'table.optimizer.join-reorder-enabled', which is off by default, as in Flink. What equals the same equals each
other, so relations may be joined by what no condition says itself. Other joins keep their places, and so do joins of
relations the size of one of which is not known, and those whose condition has another value each time. Columns keep
their order, names and types. Source: Flink's FlinkJoinReorderRule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from firesteel.relational.estimates.join_orders import JoinOrders, Tree
from firesteel.relational.expressions import Expression, InputRef, references
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.join_conditions import JoinConditions, Known
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts, is_deterministic, moved

_FEWEST = 3
"""Relations of which there is more than one order."""


def reorder_joins(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Reorder each group of neighbouring inner joins."""
    return _reordered(plan, options) if options.batch and options.reorders_joins else plan


def _reordered(node: LogicalNode, options: PlanOptions) -> LogicalNode:
    if not _is_inner(node):
        inputs = tuple(_reordered(given, options) for given in node.inputs)
        same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
        return node if same else node.with_inputs(inputs).at(node.place)
    group = _Group(lambda relation: _reordered(relation, options))
    columns, written = group.add(node)
    best = group.best_order(written, options)
    if best is None:
        return _with_relations(node, iter(group.relations))
    made, places = group.joined(best, node)
    values = tuple(
        InputRef(field.type, places.index(column))
        for field, column in zip(node.row.fields, columns, strict=True)
    )
    return Project(made, values, tuple(node.row.field_names), place=node.place)


def _is_inner(node: LogicalNode) -> bool:
    """Return whether a node is an inner join that can change places with others, or picks columns of one."""
    if isinstance(node, Project):
        return all(isinstance(one, InputRef) for one in node.expressions) and _is_inner(node.input)
    return isinstance(node, Join) and node.kind == "INNER" and is_deterministic(node.condition)


def _with_relations(node: LogicalNode, relations: Iterator[LogicalNode]) -> LogicalNode:
    """Return the joins as they are, of other relations, from left to right."""
    if not _is_inner(node):
        return next(relations)
    return node.with_inputs(tuple(_with_relations(given, relations) for given in node.inputs)).at(node.place)


class _Group:
    """Neighbouring inner joins: their relations from left to right, and the parts of their conditions.

    The parts are over the columns of all relations, one after the other, and `owners` says which relation a column is
    of. `change` is applied to relations.
    """

    def __init__(self, change: Callable[[LogicalNode], LogicalNode]) -> None:
        self._change = change
        self.relations: list[LogicalNode] = []
        self._owners: list[int] = []
        self._parts: list[Expression] = []

    def add(self, node: LogicalNode) -> tuple[tuple[int, ...], Tree]:
        """Add the relations below a node; return the node's columns as those of all relations, and their order."""
        if isinstance(node, Join) and _is_inner(node):
            (left, one), (right, other) = self.add(node.left), self.add(node.right)
            places = dict(enumerate((*left, *right)))
            self._parts += [moved(part, places) for part in conjuncts(node.condition) if part != ALWAYS]
            return (*left, *right), (one, other)
        if isinstance(node, Project) and _is_inner(node):
            columns, tree = self.add(node.input)
            return tuple(columns[place] for one in node.expressions for place in references(one)), tree
        first, width, number = len(self._owners), len(node.row.fields), len(self.relations)
        self.relations.append(self._change(node))
        self._owners += [number] * width
        return tuple(range(first, first + width)), number

    def best_order(self, written: Tree, options: PlanOptions) -> Tree | None:
        """Return the best order; None if it is the one that is written, or if it cannot be known."""
        if len(self.relations) < _FEWEST or options.sizes is None:
            return None
        sizes = [options.sizes(relation) for relation in self.relations]
        if not all(size.known for size in sizes):
            return None
        conditions = JoinConditions(self._parts, self._owners)
        rows = [size.rows for size in sizes]
        orders, as_written = (
            JoinOrders(rows, conditions.links(sizes, closed=closed)) for closed in (True, False)
        )
        best = orders.best(options.most_reordered)
        return best if orders.cost(best) < as_written.cost(written) else None

    def joined(self, tree: Tree, root: LogicalNode) -> tuple[LogicalNode, list[int]]:
        """Return the joins in an order, in the place of `root`, with the columns that they have."""
        conditions = JoinConditions(self._parts, self._owners)

        def made(tree: Tree) -> tuple[LogicalNode, list[int], tuple[int, Known]]:
            if isinstance(tree, int):
                columns = [place for place, owner in enumerate(self._owners) if owner == tree]
                return self.relations[tree], columns, (1 << tree, conditions.of_relation(tree))
            (left, first, one), (right, second, other) = map(made, tree)
            columns = [*first, *second]
            parts, known = conditions.asked(one, other)
            places = {column: place for place, column in enumerate(columns)}
            condition = all_of([moved(part, places) for part in parts] or [ALWAYS])
            node = Join(left, right, "INNER", condition, place=root.place)
            return node, columns, (one[0] | other[0], known)

        node, columns, _ = made(tree)
        return node, columns
