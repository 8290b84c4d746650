"""Operations of joins with tables as they were at a time."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.lookups import LookupJoin
from firesteel.functions.columns.temporal_joins import TemporalJoin, Versions
from firesteel.graph.operations.columns import ColumnOperation


@dataclass(frozen=True, eq=False)
class TemporalJoinOp(ColumnOperation):
    """Joins left rows with the versions of right ones; both inputs are partitioned by the keys."""

    kind = "temporal_join"

    temporal: TemporalJoin

    @property
    def meaning(self) -> str:
        """The columns of both sides, with their keys and times."""
        join, temporal = self.temporal.join, self.temporal
        left = f"{_columns(join.left)}{[*join.left_keys]}[{temporal.left_time}]"
        return f"{left}{_columns(join.right)}{[*join.right_keys]}[{temporal.right_time}]"


@dataclass(frozen=True, eq=False)
class VersionsOp(ColumnOperation):
    """Passes on the rows that are the last ones of their keys when they come; the input is partitioned by the keys."""

    kind = "versions"

    versions: Versions

    @property
    def meaning(self) -> str:
        """The columns of the keys, and that of the time."""
        spec = self.versions
        return _columns(spec.row, *spec.keys, spec.time)


@dataclass(frozen=True, eq=False)
class LookupJoinOp(ColumnOperation):
    """Joins left rows with rows of a table that are looked up."""

    kind = "lookup_join"

    join: LookupJoin


def _columns(row: RowType, *places: int) -> str:
    """Return columns with their types, all if no places are given."""
    fields = [row.fields[place] for place in places] if places else row.fields
    return f"[{', '.join(f'{field.name} {field.type}' for field in fields)}]"
