"""What is known around a part of a query: the catalog, the text, the queries of WITH."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.relational.expressions import Expression
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql.binding.catalog import CatalogObject, CatalogView, View, qualified
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.scope import Scope

Selected = tuple[str | None, Expression]
"""The name and the value of a column."""


@dataclass(frozen=True)
class Context:
    """The surroundings of a query; `bind` makes the plan of a query within it."""

    catalog: CatalogView
    text: Text
    path: tuple[str, str]
    bind: Callable[[exp.Expr, Context], LogicalNode]
    queries: Mapping[str, LogicalNode] = field(default_factory=dict)
    outer: Scope | None = None
    """The columns of the query around a subquery."""
    views: tuple[str, ...] = ()
    """The full names of the views that the query is in, outermost first."""
    asterisks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """What the asterisks of a view stand for, by their offsets; those of other queries stand for all columns."""
    met: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Collects what the asterisks of the query that is bound stand for."""

    def query(self, node: exp.Expr) -> LogicalNode:
        """Return the plan of a query within this one."""
        return self.bind(node, self)

    def with_query(self, name: str, plan: LogicalNode) -> Context:
        """Return the surroundings in which a name of WITH is known, too."""
        return replace(self, queries={**self.queries, name: plan})

    def around(self, scope: Scope) -> Context:
        """Return the surroundings of a subquery of a query with these columns."""
        return replace(self, outer=scope)

    def within(self, view: View) -> Context:
        """Return the surroundings of a view's query."""
        name = str(view.identifier)
        text = Text(view.source, f"view {name}")
        views = (*self.views, name)
        return replace(
            self,
            text=text,
            path=view.path,
            queries={},
            outer=None,
            views=views,
            asterisks=view.asterisks,
            met={},
        )

    def behind(self, asterisk: exp.Expr, columns: Sequence[Selected]) -> list[Selected]:
        """Return those of all columns that an asterisk stands for.

        Raises SqlValidationError if the view that it is in has had a column that is no longer there.
        """
        offset = self.text.place(asterisk).span.start
        self.met[offset] = tuple(str(name) for name, _ in columns)
        if offset not in self.asterisks:
            return [*columns]
        found = dict(reversed(columns))
        for name in self.asterisks[offset]:
            if name not in found:
                raise self.text.wrong(
                    asterisk, f"requires the column {name}, which was there when the view was made"
                )
        return [(name, found[name]) for name in self.asterisks[offset]]

    def function(self, names: Sequence[str], *, built_in: bool) -> UserFunction | None:
        """Return the user's function of a name of one to three parts; None if there is none.

        Those of the session go before built-in ones of their name, which go before those of catalogs.
        """
        if len(names) == 1:
            found = self.catalog.system_function(names[0])
            if found is not None or built_in:
                return found
        return self.catalog.function(qualified(names, self.path)) if len(names) <= 3 else None

    def function_names(self) -> Sequence[str]:
        """Return the names of the user's functions that can be written without a catalog and a database."""
        return self.catalog.function_names(*self.path)

    def object(self, parts: Sequence[exp.Identifier]) -> CatalogObject:
        """Return what a name of one to three parts stands for; raises SqlValidationError for an unknown one."""
        names = [part.name for part in parts]
        identifier = qualified(names, self.path)
        found = self.catalog.find(identifier)
        if found is not None:
            return found
        known = self.catalog.names(identifier.catalog, identifier.database)
        candidates = [*(self.queries if len(names) == 1 else ()), *known]
        raise self.text.wrong(
            parts[-1],
            "requires the name of a table or a view",
            got=f"{'.'.join(names)}, which does not exist",
            hint=suggestion(names[-1], candidates),
        )


def name_parts(node: exp.Expr) -> list[exp.Identifier]:
    """Return the parts of the name of a table or of a column, in the order they are written in."""
    keys = ("catalog", "db", "table", "this")
    return [part for key in keys if isinstance(part := node.args.get(key), exp.Identifier)]
