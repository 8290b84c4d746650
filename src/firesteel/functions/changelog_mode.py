"""ChangelogMode: which kinds of changes a changelog has."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.types import RowKind
from firesteel.functions.columns import connectors

__all__ = ["ChangelogMode"]


@dataclass(frozen=True)
class ChangelogMode:
    """The kinds of changes in a changelog.

    >>> [str(kind) for kind in RowKind if kind in ChangelogMode.upsert().kinds]
    ['+I', '+U', '-D']
    """

    kinds: frozenset[RowKind]

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of inserts alone."""
        return ChangelogMode(frozenset([RowKind.INSERT]))

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode in which the new row alone comes for an update, which a key finds."""
        return ChangelogMode(frozenset(RowKind) - {RowKind.UPDATE_BEFORE})

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of all kinds."""
        return ChangelogMode(frozenset(RowKind))

    @staticmethod
    def of(mode: connectors.ChangelogMode) -> ChangelogMode:
        """Return the mode of a plan."""
        has = {
            RowKind.UPDATE_BEFORE: mode.update_before,
            RowKind.UPDATE_AFTER: mode.update_after,
            RowKind.DELETE: mode.delete,
        }
        return ChangelogMode(frozenset(kind for kind in RowKind if has.get(kind, True)))

    @property
    def planned(self) -> connectors.ChangelogMode:
        """The mode as plans have it."""
        return connectors.ChangelogMode(
            update_before=RowKind.UPDATE_BEFORE in self.kinds,
            update_after=RowKind.UPDATE_AFTER in self.kinds,
            delete=RowKind.DELETE in self.kinds,
        )
