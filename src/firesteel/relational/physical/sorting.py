"""The nodes that sort and limit rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types.temporal import is_time_attribute
from firesteel.functions.columns.sorting import SortColumn
from firesteel.relational.logical import nodes as logical
from firesteel.relational.physical.node import Changes, Keys, PassingNode, PhysicalNode, Shown, Updates


@dataclass(frozen=True)
class Limit(PassingNode):
    """Some of the rows, in the order in which they come."""

    offset: int
    fetch: int | None

    passes_on: ClassVar[bool] = False

    @property
    def state(self) -> str:
        """Return the number of rows; all of them if some can go."""
        return "the number of rows that have come" if self.input.mode.append_only else "all rows"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the two numbers."""
        yield "offset", str(self.offset)
        yield "fetch", "unlimited" if self.fetch is None else str(self.fetch)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come and go if they do so in the input."""
        (below,) = given
        return Changes() if below == Changes() else Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates."""
        return Updates.BOTH if given.update else Updates.NONE


@dataclass(frozen=True)
class Sort(Limit):
    """All or some of the rows, sorted; in STREAMING mode some, and the changes of them."""

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
        yield "orderBy", _ordered(self.order, self.row.field_names)
        if self.name == "SortLimit":
            yield from super().details(shown)

    @property
    def upsert_keys(self) -> Keys:
        """Return none: as in Flink, nothing is known of the first rows."""
        return frozenset()

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come and go."""
        return Changes(update=True, delete=True)


@dataclass(frozen=True)
class TemporalSort(PassingNode):
    """All rows, in the order of a time attribute and of further columns, as the watermark passes them."""

    order: tuple[SortColumn, ...]

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def state(self) -> str:
        """Return the rows that wait."""
        return "the rows behind the watermark"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns."""
        yield "orderBy", _ordered(self.order, self.row.field_names)


def sorting(node: logical.Sort, below: PhysicalNode, *, batch: bool) -> PhysicalNode:
    """Return what sorts or limits the rows of a node, which come to one subtask.

    Raises ProgramError for a sort that never ends in STREAMING mode.
    """
    order = tuple(SortColumn(key.index, key.ascending, key.nulls_first) for key in node.order)
    if batch and order:
        return Sort(below, node.offset, node.fetch, order)
    if not batch and node.offset and node.fetch is None:
        raise ProgramError("requires FETCH or LIMIT in STREAMING mode", who="OFFSET", got="none")
    if not order:
        return Limit(below, node.offset, node.fetch)
    if node.fetch is not None:
        return Sort(below, node.offset, node.fetch, order)
    field = node.row.fields[order[0].column]
    if is_time_attribute(field.type) and order[0].ascending:
        return TemporalSort(below, order)
    raise ProgramError(
        "on a non-time-attribute field is not supported in STREAMING mode",
        who="Sort",
        got=f"ORDER BY {field.name}",
        hint="run the query in BATCH mode",
    )


def _ordered(order: tuple[SortColumn, ...], names: list[str]) -> str:
    return ", ".join(f"{names[key.column]} {'ASC' if key.ascending else 'DESC'}" for key in order)
