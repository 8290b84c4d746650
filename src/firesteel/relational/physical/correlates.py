"""The node of table functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns import correlates
from firesteel.relational.physical.node import Changes, Shown, UnaryNode, Updates


@dataclass(frozen=True)
class Correlate(UnaryNode):
    """Each row with each of the rows that a table function gives for it."""

    correlate: correlates.Correlate

    @property
    def row(self) -> RowType:
        """Return the columns that stay, and those of the function."""
        return self.correlate.output

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the function with its arguments, the columns, and whether rows without another stay."""
        names = self.correlate.row.field_names
        arguments = ", ".join(f"$cor0.{names[place]}" for place in self.correlate.arguments)
        ordinality = "_WITH_ORDINALITY" if self.correlate.function.ordinality else ""
        call = f"$UNNEST_ROWS{ordinality}$1({arguments})"
        yield "invocation", call
        yield "correlate", f"table({call})"
        yield "select", ",".join(self.row.field_names)
        yield "joinType", "LEFT" if self.correlate.keeps else "INNER"

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come and go if they do so in the input."""
        (below,) = given
        return below if below == Changes() else Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates, for which there were others."""
        return Updates.BOTH if given.update else Updates.NONE
