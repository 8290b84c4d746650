"""What a table environment does with models."""

from __future__ import annotations

from abc import ABC, abstractmethod

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.catalog.definitions import CatalogModel
from firesteel.table.catalog.models import ModelCatalog
from firesteel.table.model_descriptor import ModelDescriptor
from firesteel.table.session import Session


class Models(ABC):
    """The models of a session."""

    _session: Session

    @abstractmethod
    def _identifier(self, path: str) -> ObjectIdentifier:
        """Return the full name that a path means."""

    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Keep a model in the catalog."""
        model = _model(model_descriptor, call_site("create_model"))
        self._models.add(self._identifier(model_path), model, if_not_exists=bool(ignore_if_exists))

    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Give a model a name for this session."""
        model = _model(model_descriptor, call_site("create_temporary_model"))
        identifier, ignore = self._identifier(model_path), bool(ignore_if_exists)
        self._models.add(identifier, model, temporary=True, if_not_exists=ignore)

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model, and return whether there was one."""
        return self._models.drop(self._identifier(model_path), if_exists=bool(ignore_if_not_exists))

    def drop_temporary_model(self, model_path: str) -> bool:
        """Remove a temporary model, and return whether there was one."""
        return self._models.drop(self._identifier(model_path), temporary=True, if_exists=True)

    def list_models(self) -> list[str]:
        """Return the sorted names of the models of the current database, temporary ones too."""
        path = self._session.manager.path
        return sorted({*self._models.names(*path), *self._models.temporary_names(*path)})

    def list_temporary_models(self) -> list[str]:
        """Return the sorted names of the temporary models of the current database."""
        return self._models.temporary_names(*self._session.manager.path)

    @property
    def _models(self) -> ModelCatalog:
        return self._session.manager.models


def _model(descriptor: ModelDescriptor, who: str) -> CatalogModel:
    if not isinstance(descriptor, ModelDescriptor) or descriptor.input is None or descriptor.output is None:
        raise ProgramError(
            "requires a ModelDescriptor with the columns of its input and its output",
            who=who,
            got=str(descriptor),
        )
    return CatalogModel.create_model(
        descriptor.input, descriptor.output, descriptor.options, descriptor.comment
    )
