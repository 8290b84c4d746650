"""The node of MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.row_patterns import RowPattern
from firesteel.relational.expressions import Expression, SortKey
from firesteel.relational.logical.nodes import UnaryNode
from firesteel.relational.row_patterns import Definition


@dataclass(frozen=True)
class MatchRecognize(UnaryNode):
    """The matches of a pattern among the rows of each partition.

    Variables without a definition take any row. A row of the result has the columns of the partition, and then the
    measures; with `pattern.all_rows` all columns of the input, and then the measures.
    """

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    pattern: RowPattern
    definitions: tuple[Definition, ...]
    measures: tuple[Expression, ...]
    type: RowType

    def __post_init__(self) -> None:
        others = len(self.input.row.fields) if self.pattern.all_rows else len(self.partition)
        assert len(self.type.fields) == others + len(self.measures)

    @property
    def row(self) -> RowType:
        """Return the type of the partition's columns and of the measures."""
        return self.type
