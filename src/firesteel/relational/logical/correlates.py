"""The logical node of table functions."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.correlates import TableFunction
from firesteel.relational.expressions import Expression, references
from firesteel.relational.logical.nodes import UnaryNode


@dataclass(frozen=True)
class Correlate(UnaryNode):
    """Each row of the input with each of the rows that a table function gives for it.

    `arguments` are the columns that the function takes, `kept` those that stay; `type` has these, and then those of
    the function. Only those rows of the function count for which `condition`, over the columns of the result, is TRUE
    (None: all). With `keeps`, a row for which no other counts is there once, with NULLs.
    """

    function: TableFunction
    arguments: tuple[int, ...]
    kept: tuple[int, ...]
    type: RowType
    keeps: bool = False
    condition: Expression | None = None

    def __post_init__(self) -> None:
        width = len(self.input.row.fields)
        assert all(0 <= place < width for place in (*self.arguments, *self.kept))
        assert len(self.kept) < len(self.type.fields)
        assert self.condition is None or max(references(self.condition), default=0) < len(self.type.fields)

    @property
    def row(self) -> RowType:
        """Return the columns that stay, and those of the function."""
        return self.type
