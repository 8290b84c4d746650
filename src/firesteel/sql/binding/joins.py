"""Joins in FROM: ON, USING, NATURAL, CROSS, and the comma."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from sqlglot import exp

from firesteel.functions.columns.joins import KEEPING, JoinKind
from firesteel.relational.expressions import Expression, shifted
from firesteel.relational.functions import resolve
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Filter, LogicalNode
from firesteel.relational.logical.temporal_joins import TemporalJoin
from firesteel.relational.rules.substitution import ALWAYS, all_of
from firesteel.sql import nodes
from firesteel.sql.binding.asking_joins import join_on
from firesteel.sql.binding.conditions import as_condition
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.functions import called
from firesteel.sql.binding.hints import SelectHints
from firesteel.sql.binding.laterals import bind_lateral, is_lateral
from firesteel.sql.binding.scope import Merged, Scope, only
from firesteel.sql.binding.temporal_joins import temporal_join, version_of, without_version
from firesteel.sql.binding.vector_search import is_vector_search

T = TypeVar("T")

Item = tuple[LogicalNode, Scope]
"""The plan of what stands in FROM, and the names of its columns."""

_KINDS: Final[dict[str | None, JoinKind]] = {None: "INNER", "LEFT": "LEFT", "RIGHT": "RIGHT", "FULL": "FULL"}


def bind_joins(
    first: Item, joins: Sequence[exp.Join], context: Context, bind: Callable[[exp.Expr, Context], Item]
) -> Item:
    """Return the plan of an item of FROM with what it is joined with; `bind` makes that of one item."""
    plan, scope = first
    for join in joins:
        if is_lateral(join.this):
            plan, scope = _beside_lateral((plan, scope), join, context)
            rest = join.this.args.get("joins") or ()
            plan, scope = bind_joins((plan, scope), rest, context, bind)
        else:
            plan, scope = _joined((plan, scope), join, bind(without_version(join.this), context), context)
    return plan, scope


def _beside_lateral(left: Item, join: exp.Join, context: Context) -> Item:
    """Return a join with an item that speaks of what is before it."""
    kind, text = _KINDS[join.args.get("side")], context.text
    if kind in ("RIGHT", "FULL") or join.args.get("using") or join.args.get("method"):
        raise text.wrong(join, "requires CROSS, INNER or LEFT JOIN of an item that speaks of those before it")
    plan, scope = left
    made, relation = bind_lateral(plan, scope, join.this, kind == "LEFT", context)
    found = scope.beside(Scope((relation,)))
    on = join.args.get("on")
    condition = (
        ALWAYS
        if on is None
        else as_condition(Expressions(context, replace(found, outer=context.outer), "ON"), on)
    )
    if condition == ALWAYS:
        return made.at(text.place(join)), found
    if kind == "LEFT":
        if isinstance(made, Correlate):
            return replace(made, condition=condition).at(text.place(join)), found
        if is_vector_search(join.this):
            raise text.unsupported(join, "LEFT JOIN of VECTOR_SEARCH with a condition other than TRUE")
        made, relation = bind_lateral(plan, scope, _asked_for(join), True, context)
        return made.at(text.place(join)), scope.beside(Scope((relation,)))
    return Filter(made, condition, place=text.place(join)), found


def _asked_for(join: exp.Join) -> exp.Expr:
    """Return the LATERAL query of a LEFT JOIN with the condition of the join among its own."""
    item = join.this
    query = item.this.this if isinstance(item.this, exp.Subquery) else item.this
    inner = exp.Subquery(this=query, alias=item.args.get("alias"))
    star = exp.Star()
    asked = exp.Select(expressions=[star], from_=exp.From(this=inner), where=exp.Where(this=join.args["on"]))
    found = nodes.LateralQuery(this=asked, alias=_name_of(item))
    for node in (inner, star, asked, found):
        node.meta.update(item.meta)
    return found


def _name_of(item: exp.Expr) -> exp.Expr | None:
    """Return the alias of an item without names of columns."""
    alias = item.args.get("alias")
    if alias is None:
        return None
    plain = exp.TableAlias(this=alias.this)
    plain.meta.update(alias.meta)
    return plain


def with_hints(plan: LogicalNode, scope: Scope, hints: SelectHints) -> LogicalNode:
    """Return the joins of FROM with how long the rows of each side live, and how rows are looked up.

    A side that is a join itself has no name, and so its rows live as the session says, as in Flink.
    """
    if not isinstance(plan, Join | TemporalJoin) or hints == SelectHints():
        return plan
    first, width = plan.left, len(plan.left.row.fields)
    left = with_hints(first, scope, hints)
    if isinstance(plan, TemporalJoin):
        return replace(plan, left=left, hint=_by_first(scope, hints.lookups).get(width))
    times = _by_first(scope, hints.times_to_live)
    alone = not isinstance(first, Join | TemporalJoin)
    return replace(plan, left=left, times_to_live=(times.get(0) if alone else None, times.get(width)))


def _by_first(scope: Scope, named: Mapping[str, T]) -> dict[int, T]:
    """Return what belongs to the names of relations by the places of their first columns."""
    return {
        relation.first: named[relation.name[-1]]
        for relation in scope.relations
        if relation.name and relation.name[-1] in named
    }


def _joined(left: Item, join: exp.Join, right: Item, context: Context) -> Item:
    kind = _KINDS[join.args.get("side")]
    keeps_left, keeps_right = KEEPING[kind]
    versioned = version_of(join) is not None
    theirs = right[1].with_plain_times() if versioned else right[1]
    names = _common_names(left[1], theirs, join)
    condition = _condition(left[1], theirs, join, names, context)
    plan: LogicalNode
    if versioned:
        plan = temporal_join(*left, right[0], kind, condition, join, context)
    else:
        plan = join_on(left[0], right[0], kind, condition)
    mine, others = left[1].nullable(keeps_right), theirs.nullable(keeps_left)
    moved = mine.beside(others)
    merged = [_merged(name, mine, moved, kind) for name, _ in names]
    return plan.at(context.text.place(join)), moved.merging(merged)


def _condition(
    left: Scope, right: Scope, join: exp.Join, names: Sequence[tuple[str, exp.Expr]], context: Context
) -> Expression:
    both = replace(left.beside(right), outer=context.outer)
    if join.args.get("on") is not None:
        asks = version_of(join) is None
        return as_condition(Expressions(context, both, "ON", queries=asks), join.args["on"])
    width, equal = len(left.fields), []
    for name, place in names:
        mine, other = (
            only(side.named(name), place, name, side.fields, context.text) for side in (left, right)
        )
        equal.append(called("=", [mine, shifted(other, width)], place, context.text))
    return all_of(equal) if equal else ALWAYS


def _common_names(left: Scope, right: Scope, join: exp.Join) -> list[tuple[str, exp.Expr]]:
    """Return the columns by which USING or NATURAL joins, each with the place where that is written."""
    using = join.args.get("using")
    if using:
        return [(name.name, name) for name in using]
    if join.args.get("method") != "NATURAL":
        return []
    theirs = {name for name, _ in right.shown()}
    return [(name, join) for name in [name for name, _ in left.shown()] if name in theirs]


def _merged(name: str, left: Scope, both: Scope, kind: JoinKind) -> Merged:
    """Return the column that the columns of a name are, once."""
    (mine,) = left.named(name)
    if kind in ("INNER", "LEFT"):
        return name, mine
    other = both.relations[len(left.relations) :]
    (theirs,) = Scope(other, both.merged[len(left.merged) :]).named(name)
    return name, resolve("COALESCE", (mine, theirs))
