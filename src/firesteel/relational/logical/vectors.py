"""The logical node of VECTOR_SEARCH."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import DoubleType, Field, RowType
from firesteel.functions.columns.vectors import SCORE, Metric
from firesteel.relational.logical.joins import different_names, joined_row
from firesteel.relational.logical.nodes import LogicalNode, UnaryNode
from firesteel.relational.logical.temporal_joins import plain_times


@dataclass(frozen=True)
class VectorSearch(UnaryNode):
    """Each row with the `most` rows of a table whose vectors are most similar to its own, and how similar they are.

    `query` is the place of the vector in the input, `column` that in `searched`, of which rows are looked up as those
    of the input come. With `keeps`, a row for which nothing is found is there once, with NULLs. `config` is what was
    said of the search, as plans show it.
    """

    searched: LogicalNode
    query: int
    column: int
    most: int
    metric: Metric = "cosine"
    config: tuple[tuple[str, str], ...] = ()
    keeps: bool = False

    def __post_init__(self) -> None:
        assert 0 <= self.query < len(self.input.row.fields)
        assert 0 <= self.column < len(self.searched.row.fields)

    @property
    def found(self) -> RowType:
        """Return the columns of the table, and the score, whose name has a number if one of them has it."""
        columns = plain_times(self.searched.row).fields
        *_, name = different_names([*(column.name for column in columns), SCORE])
        return RowType((*columns, Field(name, DoubleType(nullable=False))), nullable=False)

    @property
    def row(self) -> RowType:
        """Return the columns of the input and those of the table, each with a name of its own, and the score."""
        return joined_row(self.input.row, self.found, "LEFT" if self.keeps else "INNER")
