"""The table functions between changes and rows that say what has changed."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.common.types import RowKind
from firesteel.relational.logical.nodes import UnaryNode


@dataclass(frozen=True)
class ToChangelog(UnaryNode):
    """TO_CHANGELOG: a row for each change whose kind has a code; the code, and the row's columns."""

    codes: tuple[tuple[RowKind, str], ...]
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the column of the code and the input's columns."""
        return self.type


@dataclass(frozen=True)
class FromChangelog(UnaryNode):
    """FROM_CHANGELOG: a change for each row, of the kind that its column `op` says."""

    op: int
    codes: tuple[tuple[str, RowKind], ...]

    @property
    def row(self) -> RowType:
        """Return the other columns."""
        fields = self.input.row.fields
        return RowType(fields[: self.op] + fields[self.op + 1 :], nullable=False)
