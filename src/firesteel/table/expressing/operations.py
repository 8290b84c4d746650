"""The operations of tables to plans: each as the query that SQL has for it, which SQL's binder makes a plan of.

Contract: an operation reads plans and gives a plan; nothing runs. Names in its expressions are those of the columns
that it reads, each of which has one name. Errors show the operation as it is printed: ``select(plus(a, 1))``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import exp

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import LogicalType
from firesteel.common.places import Source
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.columns.joins import JoinKind
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.relational.logical.nodes import LogicalNode, Sort
from firesteel.sql import nodes
from firesteel.sql.binding.catalog import CatalogView
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.statements import bind_operation
from firesteel.table.expressing.columns import (
    Columns,
    Naming,
    extra_names,
    has_aggregates,
    name_of,
    without_alias,
)
from firesteel.table.expressing.operand import Operand
from firesteel.table.expressing.syntax import Syntax, identifier
from firesteel.table.expressing.tree import Call, Name, TableRows, Tree, value_of, with_named
from firesteel.table.window import GroupWindow, OverWindow

_SETS: Final[dict[str, type[exp.SetOperation]]] = {
    "union": exp.Union,
    "intersect": exp.Intersect,
    "minus": exp.Except,
}
_KINDS: Final[dict[str, JoinKind]] = {"left": "LEFT", "right": "RIGHT", "full": "FULL"}


@dataclass(frozen=True)
class Grouping:
    """What rows are grouped by."""

    keys: tuple[Tree, ...] = ()
    window: GroupWindow | None = None

    @property
    def named(self) -> Mapping[str, Tree]:
        """The keys that have an alias, by it."""
        keys = {name_of(key): without_alias(key) for key in self.keys if not isinstance(key, Name)}
        return {name: key for name, key in keys.items() if name is not None}


@dataclass(frozen=True)
class Operation:
    """One operation, called `method`, of a table whose rows are those of `plan`; errors show it as `shown`, if any."""

    plan: LogicalNode
    catalog: CatalogView
    method: str
    expressions: tuple[Tree, ...] = ()
    shown: str = ""
    who: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "who", call_site(self.method))

    # --- columns ---

    def selected(self, grouping: Grouping | None = None, overs: Sequence[OverWindow] = ()) -> LogicalNode:
        """Return the columns that the expressions stand for, of the rows or of groups of them."""
        trees = self.columns.expanded(self.expressions)
        if grouping is None and any(map(has_aggregates, trees)):
            grouping = Grouping()
        known = {} if grouping is None else grouping.named
        named = Naming(self.who, grouped=grouping is not None and not overs).named(trees)
        syntax = self._syntax(grouping, overs)
        items = [self._item(name, with_named(tree, known), syntax) for name, tree in named]
        return self._bound(self._select(syntax, items, group=self._group(grouping, syntax)), syntax)

    def _item(self, name: str, tree: Tree, syntax: Syntax) -> exp.Expr:
        return exp.Alias(this=syntax.node(tree), alias=identifier(name))

    def _group(self, grouping: Grouping | None, syntax: Syntax) -> exp.Expr | None:
        if grouping is None or not grouping.keys:
            return None
        keys = self.columns.expanded([without_alias(key) for key in grouping.keys])
        return exp.Group(expressions=syntax.all_of(keys))

    def added(self, *, replaces: bool) -> LogicalNode:
        """Return all columns, and those that the expressions add; with `replaces`, instead of those of their names."""
        trees: list[Tree] = [Name(name) for name in self.plan.row.field_names]
        for tree in self.columns.expanded(self.expressions):
            name = name_of(tree)
            if replaces and name in self.plan.row.field_names:
                trees[self.plan.row.field_names.index(name)] = tree
            else:
                trees.append(tree)
        return replace(self, expressions=tuple(trees)).selected()

    def renamed(self) -> LogicalNode:
        """Return all columns, some of them by other names."""
        names = {}
        for tree in self.columns.expanded(self.expressions):
            inner = without_alias(tree)
            if not isinstance(inner, Name) or inner is tree:
                raise ProgramError(
                    "requires columns with other names",
                    who=self.who,
                    got=str(tree),
                    hint='col("a").alias("b")',
                )
            self._required(inner.name)
            names[inner.name] = tree
        trees = [names.get(name, Name(name)) for name in self.plan.row.field_names]
        return replace(self, expressions=tuple(trees)).selected()

    def dropped(self) -> LogicalNode:
        """Return all columns but those that the expressions name."""
        gone = []
        for tree in self.columns.expanded(self.expressions):
            if not isinstance(tree, Name):
                raise ProgramError("requires names of columns", who=self.who, got=str(tree))
            gone.append(self._required(tree.name))
        kept = [Name(name) for name in self.plan.row.field_names if name not in gone]
        return replace(self, expressions=tuple(kept)).selected()

    def _required(self, name: str) -> str:
        return self.plan.row.field_names[self.columns._place(Name(name))]

    # --- rows ---

    def filtered(self) -> LogicalNode:
        """Return the rows for which the expression is true."""
        syntax = self._syntax()
        where = exp.Where(this=syntax.node(self.expressions[0]))
        return self._bound(self._select(syntax, [exp.Star()], where=where), syntax)

    def distinct(self) -> LogicalNode:
        """Return each row once."""
        syntax = self._syntax()
        return self._bound(self._select(syntax, [exp.Star()], distinct=exp.Distinct()), syntax)

    def ordered(self) -> LogicalNode:
        """Return the rows in the order of the expressions."""
        syntax = self._syntax()
        keys = [syntax.ordered(tree) for tree in self.columns.expanded(self.expressions)]
        return self._bound(self._select(syntax, [exp.Star()], order=exp.Order(expressions=keys)), syntax)

    def limited(self, *, offset: int = 0, fetch: int | None = None) -> LogicalNode:
        """Return the rows without some at the beginning, or at most so many; an order before it is kept."""
        for count in (offset, fetch):
            if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
                raise ProgramError("requires a number of rows", who=self.who, got=repr(count))
        plan = self.plan
        if isinstance(plan, Sort) and plan.fetch is None:
            return replace(plan, offset=plan.offset + offset, fetch=fetch)
        return Sort(plan, (), offset, fetch, place=Text(Source(self.text), self.who).place(exp.Star()))

    # --- several tables ---

    def joined(self, right: LogicalNode) -> LogicalNode:
        """Return the rows of both tables that the expression, if there is one, brings together."""
        both = [name for name in right.row.field_names if name in self.plan.row.field_names]
        if both:
            raise ProgramError(
                "requires tables without common names of columns",
                who=self.who,
                got=", ".join(both),
                hint="rename_columns(...) or alias(...) gives others",
            )
        syntax = self._syntax()
        query = self._select(syntax, [exp.Star()])
        query.set("joins", [self._join(syntax.reading(right), syntax)])
        return self._bound(query, syntax)

    def beside(self, call: Tree) -> LogicalNode:
        """Return each row with those that a table function gives for it."""
        syntax = self._syntax()
        [inner] = self.columns.expanded([without_alias(call)])
        names = [identifier(name) for name in extra_names(call)]
        function = nodes.TableFunction(
            this=syntax.node(inner),
            table=True,
            lateral=True,
            alias=exp.TableAlias(this=identifier("function"), columns=names) if names else None,
        )
        query = self._select(syntax, [exp.Star()])
        query.set("joins", [self._join(function, syntax)])
        return self._bound(query, syntax)

    def _join(self, other: exp.Expr, syntax: Syntax) -> exp.Join:
        condition = syntax.node(self.expressions[0]) if self.expressions else exp.Boolean(this=True)
        return exp.Join(this=other, side=_KINDS.get(self.method.partition("_")[0]), on=condition)

    def given_to(self, name: str, function: UserFunction | None = None) -> LogicalNode:
        """Return what a function of tables gives; the expressions are its arguments, among which the table is.

        A `function` of a program is given itself, another is one that SQL knows by its name.
        """
        syntax = self._syntax()
        names = [identifier(part) for part in name.split(".")]
        call = nodes.Call(names=names, expressions=syntax.all_of(self.expressions), given=function)
        source = exp.From(this=nodes.TableFunction(this=call))
        return self._bound(exp.Select(expressions=[exp.Star()], from_=source), syntax)

    def of_rows(self, keys: Sequence[Tree] = (), order: Sequence[Tree] = ()) -> Operation:
        """Return the operation with the table's rows as the first argument, in sets of equal keys in an order."""
        return replace(self, expressions=(TableRows(self.plan, tuple(keys), tuple(order)), *self.expressions))

    def combined(self, right: LogicalNode) -> LogicalNode:
        """Return the union, the intersection or the difference, of rows as often as they are or of each once."""
        syntax = self._syntax()
        sides = [exp.Subquery(this=syntax.rows_of(plan)) for plan in (self.plan, right)]
        name, _, every = self.method.partition("_")
        return self._bound(_SETS[name](this=sides[0], expression=sides[1], distinct=not every), syntax)

    # --- how ---

    @property
    def columns(self) -> Columns:
        """The columns that the operation reads."""
        return Columns(self.plan.row.field_names, self._type_of, self.who)

    @property
    def text(self) -> str:
        """The operation as it is printed."""
        return self.shown or f"{self.method}({', '.join(map(str, self.expressions))})"

    def _type_of(self, tree: Tree) -> LogicalType:
        return replace(self, expressions=(Call("as", (tree, value_of("value"))),)).selected().row.children[0]

    def _syntax(self, grouping: Grouping | None = None, overs: Sequence[OverWindow] = ()) -> Syntax:
        window = None if grouping is None else grouping.window
        return Syntax(self.who, window, {window.name: window for window in overs})

    def _select(self, syntax: Syntax, items: list[exp.Expr], **clauses: exp.Expr | None) -> exp.Select:
        given = {key: clause for key, clause in clauses.items() if clause is not None}
        return exp.Select(expressions=items, from_=exp.From(this=syntax.reading(self.plan)), **given)

    def _bound(self, query: exp.Expr, syntax: Syntax) -> LogicalNode:
        return bind_operation(query, Text(Source(self.text), self.who), self.catalog, syntax.tables)


def trees_of(expressions: Sequence[Any], method: str) -> tuple[Tree, ...]:
    """Return what a program's expressions are made of. Raises ProgramError for what is none."""
    for expression in expressions:
        if not isinstance(expression, Operand):
            raise ProgramError(
                "requires expressions",
                who=call_site(method),
                got=f"{type(expression).__name__}: {expression!r:.80}",
                hint='col("a") is a column, lit(1) a constant',
            )
    return tuple(expression._tree for expression in expressions)
