"""The models of a catalog that keeps everything, by the mapping of each database."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import MutableMapping
from dataclasses import replace

from firesteel.common.errors import ProgramError
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogModel
from firesteel.table.catalog.paths import ObjectPath


class ModelsInMemory(Catalog):
    """What a catalog does with models."""

    @abstractmethod
    def _models(self, database: str) -> MutableMapping[str, CatalogModel]:
        """Return the models of a database. Raises ProgramError if there is no such database."""

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of the models of a database."""
        return sorted(self._models(database_name))

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model. Raises ProgramError if there is none of this name."""
        found = self._models(model_path.database_name).get(model_path.object_name)
        if found is None:
            raise self._unknown("model", model_path)
        return found

    def model_exists(self, model_path: ObjectPath) -> bool:
        """Return whether there is a model of this name."""
        database = model_path.database_name
        return self.database_exists(database) and model_path.object_name in self._models(database)

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        """Add a model."""
        if not self.model_exists(model_path):
            self._models(model_path.database_name)[model_path.object_name] = model
        elif not ignore_if_exists:
            raise exists("model", str(model_path))

    def alter_model(
        self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool
    ) -> None:
        """Put another model in the place of one."""
        if self.model_exists(model_path) or not ignore_if_not_exists:
            self.get_model(model_path)
            self._models(model_path.database_name)[model_path.object_name] = new_model

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model."""
        if self.model_exists(model_path) or not ignore_if_not_exists:
            self.get_model(model_path)
            del self._models(model_path.database_name)[model_path.object_name]

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        """Give a model another name."""
        if not self.model_exists(model_path) and ignore_if_not_exists:
            return
        found = self.get_model(model_path)
        self.create_model(replace(model_path, object_name=new_model_name), found, False)
        self.drop_model(model_path, False)


def exists(what: str, name: str) -> ProgramError:
    """Return the error that something is there already."""
    return ProgramError(
        f"requires a name that no other {what} has", got=name, hint="IF NOT EXISTS leaves the old one"
    )
