"""Operations of joins with tables as they were at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.lookups import LookupJoin
from firesteel.functions.columns.temporal_joins import TemporalJoin, Versions
from firesteel.functions.columns.vectors import VectorSearch
from firesteel.graph.operations.columns import ColumnOperation, columns_text


@dataclass(frozen=True, eq=False)
class TemporalJoinOp(ColumnOperation):
    """Joins left rows with the versions of right ones; both inputs are partitioned by the keys."""

    kind = "temporal_join"

    temporal: TemporalJoin

    @property
    def meaning(self) -> str:
        """The columns of both sides, with their keys and times."""
        join, temporal = self.temporal.join, self.temporal
        return _side(join.left, join.left_keys, temporal.left_time) + _side(
            join.right, join.right_keys, temporal.right_time
        )


@dataclass(frozen=True, eq=False)
class VersionsOp(ColumnOperation):
    """Passes on the rows that are the last ones of their keys when they come; the input is partitioned by the keys."""

    kind = "versions"

    versions: Versions

    @property
    def meaning(self) -> str:
        """The columns of the keys, and that of the time."""
        spec = self.versions
        return f"[{columns_text(spec.row, (*spec.keys, spec.time))}]"


@dataclass(frozen=True, eq=False)
class LookupJoinOp(ColumnOperation):
    """Joins left rows with rows of a table that are looked up."""

    kind = "lookup_join"

    join: LookupJoin


@dataclass(frozen=True, eq=False)
class VectorSearchOp(ColumnOperation):
    """Joins left rows with the rows of a table whose vectors are most similar to theirs."""

    kind = "vector_search"

    search: VectorSearch


def _side(row: RowType, keys: Sequence[int], time: int) -> str:
    return f"[{columns_text(row, range(len(row.fields)))}]{[*keys]}[{time}]"
