"""What the execution of a statement needs: the session, and the text to point at in errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from firesteel.common.errors import ProgramError, SqlError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.places import Source, Span, kind_of
from firesteel.sql.binding.places import Text
from firesteel.sql.statements.parts import Name, Option
from firesteel.table.catalog.binding import BoundCatalog
from firesteel.table.catalog.manager import CatalogManager
from firesteel.table.session import Session


@dataclass(frozen=True)
class Execution:
    """One statement in its session."""

    session: Session
    text: Text

    @property
    def source(self) -> Source:
        """The text that the statement is in."""
        return self.text.source

    @property
    def catalog(self) -> BoundCatalog:
        """The session's catalogs as the binder sees them."""
        return self.session.catalog

    @property
    def manager(self) -> CatalogManager:
        """The session's catalogs."""
        return self.session.manager

    @contextmanager
    def at(self, place: Span) -> Iterator[None]:
        """Make errors that know no place point at this one."""
        try:
            yield
        except SqlError:
            raise
        except ProgramError as error:
            requirement = f"{error.who} {error.requirement}" if error.who else error.requirement
            pointer = self.text.place(place).pointer
            raise pointer.error(kind_of(error), requirement, got=error.got, hint=error.hint) from error

    def identifier(self, name: Name) -> ObjectIdentifier:
        """Return the full name of a table or a view."""
        with self.at(name.span):
            return self.manager.qualified(name.parts)

    def database(self, name: Name | None) -> tuple[str, str]:
        """Return the catalog and the database that a name means, which must exist; None: those in use."""
        if name is None:
            return self.manager.path
        catalog = name.parts[0] if len(name.parts) > 1 else self.manager.current_catalog
        with self.at(name.span):
            self.manager.database(catalog, name.parts[-1])
        return catalog, name.parts[-1]


def options_of(options: tuple[Option, ...] | None) -> dict[str, str]:
    """Return the options of a WITH; the last of equal keys counts."""
    return {option.key: option.value for option in options or ()}
