"""SELECT to a plan: projection, WHERE, groups, windows, DISTINCT, ORDER BY."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from firesteel.common.errors import SqlError
from firesteel.common.logical_types import NullType, RowType
from firesteel.relational.expressions import Expression, InputRef, SortKey
from firesteel.relational.functions import field_of
from firesteel.relational.functions.aggregates import is_aggregate
from firesteel.relational.logical.nodes import Aggregate, Filter, LogicalNode, Project
from firesteel.sql import nodes
from firesteel.sql.binding.asking import answered
from firesteel.sql.binding.conditions import as_condition
from firesteel.sql.binding.context import Context, Selected, name_parts
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.groups import GroupBinder, Groups, groups_by_nothing
from firesteel.sql.binding.hints import select_hints
from firesteel.sql.binding.joins import with_hints
from firesteel.sql.binding.lowering import (
    NotGroupedError,
    WrongGroupingError,
    WrongWindowError,
    grouped,
    rewritten_top,
    windowed,
)
from firesteel.sql.binding.scope import Scope
from firesteel.sql.binding.sorting import SortItem, bind_order_by, sorted_plan
from firesteel.sql.binding.sources import bind_from, columns_of
from firesteel.sql.binding.subqueries import filtered
from firesteel.sql.binding.time_attributes import distinct_rows
from firesteel.sql.binding.values import AggregateValue, GroupingValue, WindowProperty, parts_of

NULL_HINT: Final = "write CAST(NULL AS INT), for example"


@dataclass(frozen=True)
class Item:
    """A column of the result."""

    name: str
    value: Expression
    node: exp.Expr


def bind_select(select: exp.Select, context: Context) -> LogicalNode:
    """Return the plan of a SELECT with its ORDER BY and LIMIT."""
    plan, scope = bind_from(select, context)
    hints = select_hints(select, scope, context)
    times_to_live = hints.times_to_live
    if select.args.get("joins"):
        plan, times_to_live = with_hints(plan, scope, hints), {}
    scope = replace(scope, outer=context.outer)
    where = select.args.get("where")
    if where is not None:
        plan = filtered(
            plan, Expressions(context, scope, "WHERE", queries=True, later=_aliases(select)), where.this
        )
    last = next(reversed([*times_to_live.values()]), None)
    return _Select(select, context, plan, scope, last).plan()


def _aliases(select: exp.Select) -> frozenset[str]:
    return frozenset(item.alias for item in select.expressions if isinstance(item, exp.Alias))


class _Select:
    """One SELECT, after its FROM and WHERE."""

    def __init__(
        self, select: exp.Select, context: Context, plan: LogicalNode, scope: Scope, time_to_live: int | None
    ) -> None:
        self._select = select
        self._context = context
        self._source = plan
        self._group = select.args.get("group")
        self._time_to_live = time_to_live
        windows = {window.this.name: window for window in select.args.get("windows") or ()}
        self._binder = Expressions(
            context,
            scope,
            aggregates=True,
            overs=True,
            queries=True,
            one_group=groups_by_nothing(self._group),
            windows=windows,
        )

    def plan(self) -> LogicalNode:
        """Return the plan."""
        groups = (
            GroupBinder(replace(self._binder, later=_aliases(self._select))).bind(self._group)
            if self._group is not None
            else Groups()
        )
        items = self._items()
        order = bind_order_by(
            self._select.args.get("order"),
            self._binder,
            [(item.name, item.value) for item in items if self._has_alias(item)],
            [item.value for item in items],
        )
        conditions = [self._condition(clause) for clause in ("having", "qualify")]
        values = [item.value for item in items] + [key.value for key in order]
        places = [item.node for item in items] + [key.node for key in order]
        for clause, condition in zip(("having", "qualify"), conditions, strict=True):
            if condition is not None:
                values.append(condition)
                places.append(self._select.args[clause].this)
        names = {item.value: item.name for item in reversed(items) if not isinstance(item.value, InputRef)}
        self._source, asked = answered(self._source, groups.keys)
        known = dict(zip(groups.keys, asked, strict=True))
        self._source, values = answered(
            self._source, [rewritten_top(value, known.get) for value in values], in_aggregates=True
        )
        plan, values = self._grouped(replace(groups, keys=tuple(asked)), values, places, names)
        plan, values = answered(plan, values)
        return self._finished(plan, values, items, order, conditions, names)

    def _finished(
        self,
        plan: LogicalNode,
        values: Sequence[Expression],
        items: Sequence[Item],
        order: Sequence[SortItem],
        conditions: Sequence[Expression | None],
        names: dict[Expression, str],
    ) -> LogicalNode:
        rest = list(values[len(items) + len(order) :])
        having = rest.pop(0) if conditions[0] is not None else None
        if having is not None:
            plan = Filter(plan, having)
        visible = list(values[: len(items) + len(order)])
        original = {value: item.name for value, item in zip(visible, items, strict=False)}
        plan, visible = answered(*windowed(plan, [*visible, *rest], {**names, **original}))
        if rest:
            plan = Filter(plan, visible.pop())
        keys = [replace(key, value=value) for key, value in zip(order, visible[len(items) :], strict=True)]
        return self._projected(plan, visible[: len(items)], items, keys)

    def _projected(
        self, plan: LogicalNode, values: list[Expression], items: Sequence[Item], order: Sequence[SortItem]
    ) -> LogicalNode:
        distinct = self._select.args.get("distinct") is not None
        shown = [*values]
        sort_keys = []
        for key in order:
            if key.value not in shown:
                if distinct:
                    raise self._context.text.wrong(
                        key.node, "orders by a value that SELECT DISTINCT does not have"
                    )
                shown.append(key.value)
            sort_keys.append(SortKey(shown.index(key.value), key.ascending, key.nulls_first))
        names = [item.name for item in items]
        hidden = [f"$s{place}" for place in range(len(items), len(shown))]
        node: LogicalNode = Project(plan, tuple(shown), (*names, *hidden))
        if distinct:
            place = self._context.text.place(self._select.args["distinct"])
            node = distinct_rows(node, self._time_to_live).at(place)
        node = sorted_plan(node, sort_keys, self._select, self._context.text)
        if hidden:
            node = Project(node, columns_of(node)[: len(items)], tuple(names))
        return node

    def _grouped(
        self,
        groups: Groups,
        values: list[Expression],
        places: list[exp.Expr],
        names: dict[Expression, str],
    ) -> tuple[LogicalNode, list[Expression]]:
        if self._group is None and not self._has_groups(values, places):
            return self._source, values
        try:
            plan, found = grouped(self._source, groups, values, names)
        except NotGroupedError as error:
            raise self._not_grouped(error, places[error.place]) from None
        except WrongWindowError as error:
            hint = "give it the arguments of the window in GROUP BY"
            raise self._context.text.wrong(
                places[error.place], "asks for another window than that of GROUP BY", hint=hint
            ) from None
        except WrongGroupingError as error:
            raise self._context.text.wrong(
                places[error.place], "uses GROUPING with an expression that is not in GROUP BY"
            ) from None
        if isinstance(plan, Aggregate):
            plan = replace(plan, time_to_live=self._time_to_live)
        written = next((part.place for value in values for part in parts_of(value, AggregateValue)), None)
        group = None if self._group is None else self._context.text.place(self._group)
        return plan.at(groups.place or group or written), found

    def _has_groups(self, values: list[Expression], places: list[exp.Expr]) -> bool:
        """Return whether there is one group of all rows, without GROUP BY."""
        kinds = (AggregateValue, WindowProperty)
        if self._select.args.get("having") is not None:
            return True
        if any(next(parts_of(value, kind), None) for value in values for kind in kinds):
            return True
        for value, place in zip(values, places, strict=True):
            if asked := next(parts_of(value, GroupingValue), None):
                hint = "add GROUP BY"
                raise self._context.text.wrong(place, f"uses {asked.function} without groups", hint=hint)
        return False

    def _not_grouped(self, error: NotGroupedError, place: exp.Expr) -> SqlError:
        """Make the error that a column is not in GROUP BY, at the first place of the column outside of aggregates."""
        scope, text = self._binder.scope, self._context.text
        name = scope.names[error.value.index]
        for column in place.find_all(exp.Column):
            if isinstance(column.this, exp.Identifier) and not _within_aggregate(column, place):
                found, _ = scope.column(name_parts(column), text)
                if isinstance(found, InputRef) and found.index == error.value.index:
                    place = column
                    break
        hint = f"add {name} to GROUP BY, or aggregate it, for example MAX({name})"
        keys = self._group.expressions if self._group is not None else []
        if any(isinstance(key, exp.Literal) and not key.is_string for key in keys):
            hint = f"GROUP BY takes no places of columns: write {name} instead of the number"
        return text.wrong(
            place,
            f"uses the column {name}, which is neither in GROUP BY nor in an aggregate function",
            hint=hint,
        )

    def _condition(self, clause: str) -> Expression | None:
        node = self._select.args.get(clause)
        if node is None:
            return None
        later = _aliases(self._select)
        binder = replace(self._binder, clause=clause.upper(), overs=clause == "qualify", later=later)
        return as_condition(binder, node.this)

    def _items(self) -> list[Item]:
        found: list[Item] = []
        written: set[str] = set()
        taken: set[str] = set()
        for node in self._select.expressions:
            for name, value in self._columns(node):
                wanted = name or f"EXPR${len(written)}"  # Flink counts the names before it makes them unique
                written.add(wanted)
                unique, number = wanted, 0
                while unique in taken:
                    unique, number = f"{wanted}{number}", number + 1
                taken.add(unique)
                if isinstance(value.type, NullType):
                    raise self._context.text.wrong(
                        node, "requires a value with a type", got="NULL", hint=NULL_HINT
                    )
                found.append(Item(unique, value.at(self._context.text.place(node)), node))
        return found

    def _columns(self, node: exp.Expr) -> list[Selected]:
        scope, text = self._binder.scope, self._context.text
        if isinstance(node, exp.Star):
            if not scope.relations:
                raise text.wrong(node, "has an asterisk without FROM")
            return self._context.behind(node, scope.shown())
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            return self._context.behind(node, self._star_of(node))
        if isinstance(node, exp.Alias):
            return [(node.alias, self._binder.bind(node.this))]
        name = node.this.name if isinstance(node, exp.Column) else None
        if isinstance(node, nodes.Call) and node.args.get("bare"):
            name = node.function
        return [(name, self._binder.bind(node))]

    def _star_of(self, node: exp.Column) -> list[Selected]:
        """Return the columns of a relation, or the fields of a row."""
        parts = name_parts(node)
        scope, text = self._binder.scope, self._context.text
        relation = scope.relation(parts)
        if relation is not None:
            return [(field.name, ref) for field, ref in zip(relation.fields, relation.refs(), strict=True)]
        found, used = scope.column(parts, text)
        value: Expression = found
        for part in parts[used:]:
            value = self._binder.field(value, part)
        if not isinstance(value.type, RowType):
            raise text.wrong(node, "requires a table or a row before the asterisk", got=str(value.type))
        return [(field.name, field_of(value, place)) for place, field in enumerate(value.type.fields)]

    def _has_alias(self, item: Item) -> bool:
        return isinstance(item.node, exp.Alias)


def _within_aggregate(column: exp.Expr, top: exp.Expr) -> bool:
    node = column
    while node is not top and node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.Call) and is_aggregate(node.function):
            return True
    return False
