"""What is known around a part of a query: the catalog, the text, the queries of WITH."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from firesteel.common.suggestions import suggestion
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql.binding.catalog import CatalogObject, CatalogView, View, qualified
from firesteel.sql.binding.places import Text


@dataclass(frozen=True)
class Context:
    """The surroundings of a query; `bind` makes the plan of a query within it."""

    catalog: CatalogView
    text: Text
    path: tuple[str, str]
    bind: Callable[[exp.Expr, Context], LogicalNode]
    queries: Mapping[str, LogicalNode] = field(default_factory=dict)
    views: tuple[str, ...] = ()
    """The full names of the views that the query is in, outermost first."""

    def query(self, node: exp.Expr) -> LogicalNode:
        """Return the plan of a query within this one."""
        return self.bind(node, self)

    def with_query(self, name: str, plan: LogicalNode) -> Context:
        """Return the surroundings in which a name of WITH is known, too."""
        return replace(self, queries={**self.queries, name: plan})

    def within(self, view: View) -> Context:
        """Return the surroundings of a view's query."""
        name = str(view.identifier)
        text = Text(view.source, f"view {name}")
        return replace(self, text=text, path=view.path, queries={}, views=(*self.views, name))

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
