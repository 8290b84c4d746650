"""ORDER BY, LIMIT, OFFSET and FETCH."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from firesteel.common.places import Place
from firesteel.relational.expressions import Expression, SortKey
from firesteel.relational.logical.nodes import LogicalNode, Sort
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.places import Text


@dataclass(frozen=True)
class SortItem:
    """A value to sort by, and where it is written."""

    value: Expression
    ascending: bool
    nulls_first: bool
    node: exp.Expr


def bind_order_by(
    order: exp.Order | None,
    binder: Expressions,
    aliases: Sequence[tuple[str, Expression]],
    items: Sequence[Expression],
) -> list[SortItem]:
    """Return the values to sort by: columns by their place in SELECT, aliases of SELECT, expressions.

    NULL is the smallest value unless the text says otherwise. Raises SqlValidationError for a place that there is not.
    """
    found: list[SortItem] = []
    named = replace(binder, clause="ORDER BY", aliases={**dict(reversed(aliases))})
    for key in order.expressions if order is not None else ():
        ascending = not key.args.get("desc")
        written = key.args.get("nulls_first")
        nulls_first = ascending if written is None else bool(written)
        found.append(SortItem(_value(key.this, named, items), ascending, nulls_first, key.this))
    return found


def _value(node: exp.Expr, binder: Expressions, items: Sequence[Expression]) -> Expression:
    if not (isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()):
        return binder.bind(node)
    place = int(node.name)
    if not 1 <= place <= len(items):
        raise binder.context.text.wrong(
            node, f"requires the place of a column of the result, from 1 to {len(items)}", got=node.name
        )
    return items[place - 1]


def sorted_plan(plan: LogicalNode, keys: Sequence[SortKey], query: exp.Expr, text: Text) -> LogicalNode:
    """Return the plan of a query sorted and limited as it says; the plan itself if there is nothing to do.

    As in Flink, an order that says nothing about which rows there are is left out of queries within others.
    """
    offset, fetch = _limits(query, text)
    limited = bool(offset) or fetch is not None
    if not limited and not (keys and _is_outermost(query)):
        return plan
    return Sort(plan, tuple(keys), offset, fetch, place=_sort_place(query, text))


def _limits(query: exp.Expr, text: Text) -> tuple[int, int | None]:
    """Return how many rows are left out at the start of a query's result, and how many are kept (None: all)."""
    offset, limit = query.args.get("offset"), query.args.get("limit")
    return 0 if offset is None else _count(offset, text), None if limit is None else _count(limit, text)


def _count(clause: exp.Expr, text: Text) -> int:
    written = clause.expression
    if not written.name.isdigit():
        raise text.wrong(clause, "requires a whole number of rows", got=written.name)
    return int(written.name)


def _is_outermost(query: exp.Expr) -> bool:
    """Return whether a query is a whole one, perhaps in parentheses."""
    parent = query.parent
    while isinstance(parent, exp.Subquery):
        parent = parent.parent
    return parent is None


def _sort_place(query: exp.Expr, text: Text) -> Place:
    """Return where a query says how it is sorted or limited; where it stands itself if it does not."""
    clauses = (query.args.get(clause) for clause in ("order", "limit", "offset"))
    return text.place(next((clause for clause in clauses if clause is not None), query))
