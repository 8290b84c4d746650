"""The models of a session: of databases, and temporary ones, which hide these.

Contract: upper and lower case differ. Errors are ProgramErrors without a place, as those of
`firesteel.table.catalog.manager`. Source: Flink's CatalogManager.
"""

from __future__ import annotations

from collections.abc import Callable

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, ObjectIdentifier
from firesteel.common.suggestions import did_you_mean
from firesteel.functions.predicting import Model
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogModel
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.paths import ObjectPath


class ModelCatalog:
    """Keeps models by their names; `catalog` finds where those that are not temporary are kept."""

    def __init__(self, catalog: Callable[[str], Catalog]) -> None:
        self._catalog = catalog
        self._temporary: dict[ObjectIdentifier, CatalogModel] = {}

    def find(self, identifier: ObjectIdentifier) -> CatalogModel | None:
        """Return the model of a full name, a temporary one first; None if there is none."""
        return self._temporary.get(identifier) or self._permanent(identifier)

    def get(self, identifier: ObjectIdentifier) -> CatalogModel:
        """Return what `find` returns. Raises ProgramError with a suggestion if there is none."""
        found = self.find(identifier)
        if found is None:
            raise self._unknown(identifier)
        return found

    def is_temporary(self, identifier: ObjectIdentifier) -> bool:
        """Return whether there is a temporary model of a full name."""
        return identifier in self._temporary

    def add(
        self,
        identifier: ObjectIdentifier,
        model: CatalogModel,
        *,
        temporary: bool = False,
        if_not_exists: bool = False,
        replaces: bool = False,
    ) -> None:
        """Keep a model. Raises ProgramError if there is one of this name, unless `if_not_exists` or `replaces`."""
        there = identifier in self._temporary if temporary else self._permanent(identifier) is not None
        if there and not (if_not_exists or replaces):
            raise exists("temporary model" if temporary else "model", str(identifier))
        if there and not replaces:
            return
        if temporary:
            self._temporary[identifier] = model
        elif there:
            self.change(identifier, model)
        else:
            catalog, path = self._located(identifier)
            catalog.get_database(identifier.database)
            catalog.create_model(path, model, False)

    def change(self, identifier: ObjectIdentifier, model: CatalogModel) -> None:
        """Put another model in the place of a permanent one. Raises ProgramError if there is none."""
        if self._permanent(identifier) is None:
            raise self._unknown(identifier)
        catalog, path = self._located(identifier)
        catalog.alter_model(path, model, False)

    def rename(self, identifier: ObjectIdentifier, name: str) -> None:
        """Give a permanent model another name. Raises ProgramError if there is none, or one of that name."""
        if self._permanent(identifier) is None:
            raise self._unknown(identifier)
        catalog, path = self._located(identifier)
        catalog.rename_model(path, name, False)

    def drop(self, identifier: ObjectIdentifier, *, temporary: bool = False, if_exists: bool = False) -> bool:
        """Remove a model, and return whether there was one. Raises ProgramError as `get`, unless `if_exists`."""
        if not temporary and identifier in self._temporary:
            raise ProgramError(
                "cannot drop a model while a temporary one of the same name hides it",
                got=identifier.name,
                hint="DROP TEMPORARY MODEL first",
            )
        there = identifier in self._temporary if temporary else self._permanent(identifier) is not None
        if not there and not if_exists:
            raise self._unknown(identifier)
        if there and temporary:
            del self._temporary[identifier]
        elif there:
            catalog, path = self._located(identifier)
            catalog.drop_model(path, False)
        return there

    def names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the models of a database, without temporary ones, as Flink does."""
        return sorted(self._catalog(catalog).list_models(database))

    def temporary_names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the temporary models of a database."""
        return sorted(
            one.name for one in self._temporary if (one.catalog, one.database) == (catalog, database)
        )

    def forget(self, goes: Callable[[ObjectIdentifier], bool]) -> None:
        """Remove temporary models."""
        self._temporary = {name: one for name, one in self._temporary.items() if not goes(name)}

    def _permanent(self, identifier: ObjectIdentifier) -> CatalogModel | None:
        try:
            catalog, path = self._located(identifier)
        except ProgramError:  # no model can be where there is no catalog
            return None
        return catalog.get_model(path) if catalog.model_exists(path) else None

    def _located(self, identifier: ObjectIdentifier) -> tuple[Catalog, ObjectPath]:
        return self._catalog(identifier.catalog), ObjectPath(identifier.database, identifier.name)

    def _unknown(self, identifier: ObjectIdentifier) -> ProgramError:
        path = identifier.catalog, identifier.database
        known = [*self.names(*path), *self.temporary_names(*path)]
        return ProgramError(
            "requires a model that exists", got=str(identifier), hint=did_you_mean(identifier.name, known)
        )


def as_asked(identifier: ObjectIdentifier, model: CatalogModel) -> Model:
    """Return a model as a query sees it."""
    inputs, outputs = (
        tuple(Field(one.name, one.type) for one in columns) for columns in (model.inputs, model.outputs)
    )
    return Model(
        f"{identifier.catalog}.{identifier.database}.{identifier.name}",
        inputs,
        outputs,
        dict(model.options),
    )
