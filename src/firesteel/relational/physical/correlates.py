"""The nodes of functions of Python, and of table functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from firesteel.common.logical_types import RowType
from firesteel.functions.columns import correlates, python_functions
from firesteel.functions.columns.correlates import TableFunction, Unnest
from firesteel.functions.columns.python_functions import PythonCall
from firesteel.relational.expressions import Expression
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.joins import pair_condition
from firesteel.relational.physical.node import Changes, Keys, Shown, UnaryNode, Updates


@dataclass(frozen=True)
class Correlate(UnaryNode):
    """Each row with each of the rows that a table function gives for it, as the logical node of this name."""

    function: TableFunction
    arguments: tuple[int, ...]
    kept: tuple[int, ...]
    type: RowType
    keeps: bool = False
    condition: Expression | None = None

    @property
    def row(self) -> RowType:
        """Return the columns that stay, and those of the function."""
        return self.type

    @property
    def name(self) -> str:
        """Return the name of the operator as Flink has it."""
        return "Correlate" if isinstance(self.function, Unnest) else "PythonCorrelate"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the function with its arguments, the columns, and whether rows without another stay."""
        names = self.input.row.field_names
        invoked = [f"$cor0.{names[place]}" for place in self.arguments]
        written = invoked
        if not isinstance(self.function, Unnest):
            invoked = [f"${place}" for place in self.arguments]
            written = [names[place] for place in self.arguments]
        yield "invocation", f"{_name(self.function)}({', '.join(invoked)})"
        yield "correlate", f"table({_name(self.function)}({', '.join(written)}))"
        yield "select", ",".join(self.row.field_names)
        yield "joinType", "LEFT" if self.keeps else "INNER"
        if self.condition is not None:
            yield "condition", shown(self.condition, self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come and go if they do so in the input."""
        (below,) = given
        return below if below == Changes() else Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates, for which there were others."""
        return Updates.BOTH if given.update else Updates.NONE

    def correlate(self, zone: str) -> correlates.Correlate:
        """Return what the operator does; `zone` is the session's time zone."""
        condition = pair_condition(self.type, RowType((), nullable=False), self.condition, zone)
        given = self.input.row
        return correlates.Correlate(
            given, self.type, self.function, self.arguments, self.kept, self.keeps, condition, zone
        )


def _name(function: TableFunction) -> str:
    if isinstance(function, Unnest):
        return f"$UNNEST_ROWS{'_WITH_ORDINALITY' if function.ordinality else ''}$1"
    return function.name


@dataclass(frozen=True)
class PythonCalc(UnaryNode):
    """Each row with what functions of Python have for it; `calls` may take the results of those before them."""

    calls: tuple[PythonCall, ...]
    type: RowType

    passes_on: ClassVar[bool] = True

    @property
    def row(self) -> RowType:
        """Return the columns of the input, and a column for each call."""
        return self.type

    @property
    def upsert_keys(self) -> Keys:
        """Return those of the input."""
        return self.input.upsert_keys

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns."""
        names = self.type.field_names
        width = len(names) - len(self.calls)
        calls = (
            f"{call.function.name}({', '.join(names[place] for place in call.arguments)}) AS {name}"
            for call, name in zip(self.calls, names[width:], strict=True)
        )
        yield "select", ", ".join([*names[:width], *calls])

    @property
    def inserts_only(self) -> bool:
        """Return whether a function is never asked about rows that go or change."""
        return any(call.function.inserts_only for call in self.calls)

    def calc(self, options: PlanOptions) -> python_functions.PythonCalc:
        """Return what the operator does."""
        return python_functions.PythonCalc(
            self.input.row, self.type, self.calls, options.zone, options.awaited
        )
