"""The nodes that sort and limit rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.functions.columns.sorting import SortColumn
from firesteel.relational.physical.node import PassingNode, Shown


@dataclass(frozen=True)
class Limit(PassingNode):
    """Some of the rows, in any order."""

    offset: int
    fetch: int | None

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def state(self) -> str:
        """Return the number of rows."""
        return "the number of rows that have come"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the two numbers."""
        yield "offset", str(self.offset)
        yield "fetch", "unlimited" if self.fetch is None else str(self.fetch)


@dataclass(frozen=True)
class Sort(Limit):
    """All or some of the rows, sorted."""

    order: tuple[SortColumn, ...]

    @property
    def name(self) -> str:
        """Return Flink's name, which says whether all rows come."""
        return "Sort" if self.fetch is None and not self.offset else "SortLimit"

    @property
    def state(self) -> str:
        """Return the rows."""
        return "all rows"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns, and the two numbers if there are any."""
        names = self.row.field_names
        yield (
            "orderBy",
            ", ".join(f"{names[key.column]} {'ASC' if key.ascending else 'DESC'}" for key in self.order),
        )
        if self.name == "SortLimit":
            yield from super().details(shown)
