"""What the binder asks the catalog: what a name stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from firesteel.common.logical_types import ObjectIdentifier, RowType
from firesteel.common.places import Source
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.functions.predicting import Model
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.tables import ResolvedTable


@dataclass(frozen=True, eq=False)
class View:
    """A query with a name.

    `row` has the view's columns as they were when it was made. Names in the query are looked up in the catalog and the
    database of `path`, whichever are in use later. `asterisks` has the columns that each asterisk of the query stood
    for when the view was made, by its offset in the text: a column that a table gets later is not the view's.
    """

    identifier: ObjectIdentifier
    row: RowType
    query: exp.Expr
    source: Source
    path: tuple[str, str]
    comment: str | None = None
    asterisks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PlannedView:
    """A plan with a name: what a program registered under it."""

    identifier: ObjectIdentifier
    plan: LogicalNode


CatalogObject = ResolvedTable | View | PlannedView


class CatalogView(Protocol):
    """The catalog as the binder sees it; temporary objects hide those of the same name."""

    @property
    def path(self) -> tuple[str, str]:
        """Return the catalog and the database in use."""

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return what a full name stands for, None if there is nothing."""

    def function(self, identifier: ObjectIdentifier) -> UserFunction | None:
        """Return the user's function of a full name, None if there is none; upper and lower case are the same."""

    def system_function(self, name: str) -> UserFunction | None:
        """Return the user's function that has a name in all databases, None if there is none."""

    def function_names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of the user's functions that a query in a database knows, of all databases included."""

    def model(self, identifier: ObjectIdentifier) -> Model | None:
        """Return the model of a full name, None if there is none."""

    def model_names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of models in a database, none if there is no such database."""

    def names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of tables and views in a database, none if there is no such database."""


def qualified(parts: Sequence[str], path: tuple[str, str]) -> ObjectIdentifier:
    """Return the full name that one to three parts stand for.

    >>> str(qualified(["d", "t"], ("c", "e")))
    '`c`.`d`.`t`'
    """
    return ObjectIdentifier(*(*path[: 3 - len(parts)], *parts))
