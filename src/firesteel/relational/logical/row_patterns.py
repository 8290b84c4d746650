"""The node of MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Sequence
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
    measures; with `pattern.all_rows` it has `shown`, all columns of the input, and then the measures.
    """

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    pattern: RowPattern
    definitions: tuple[Definition, ...]
    measures: tuple[Expression, ...]
    type: RowType

    def __post_init__(self) -> None:
        assert len(self.type.fields) == len(self.shown) + len(self.measures)

    @property
    def shown(self) -> tuple[int, ...]:
        """Return the columns of the input that the result begins with."""
        return shown_columns(self.pattern, self.partition, self.order, len(self.input.row.fields))

    @property
    def row(self) -> RowType:
        """Return the type of the partition's columns and of the measures."""
        return self.type


def shown_columns(
    pattern: RowPattern, partition: tuple[int, ...], order: Sequence[SortKey], width: int
) -> tuple[int, ...]:
    """Return the columns of an input that the result begins with: those of the partition.

    With `all_rows` those of the order follow, as in Calcite, and then all others.

    >>> shown_columns(RowPattern((), all_rows=True), (2,), [SortKey(1)], 4)
    (2, 1, 0, 3)
    """
    if not pattern.all_rows:
        return partition
    return tuple(dict.fromkeys((*partition, *(key.index for key in order), *range(width))))
