"""What joins with a table as it was at a time do, as data."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.joins import Join


@dataclass(frozen=True)
class TemporalJoin:
    """Left rows with the versions that are valid at their times.

    `join`, INNER or LEFT, says which rows belong together, besides that a version is the last one up to a left row's
    time. `left_time` and `right_time` are the places of row times. In keys NULL equals itself, as in Flink. The inputs
    are partitioned by the keys.
    """

    join: Join
    left_time: int
    right_time: int

    def __post_init__(self) -> None:
        assert self.join.left_keys
        assert self.join.kind in ("INNER", "LEFT")


@dataclass(frozen=True)
class Versions:
    """All rows that have been the last of their key by `time`; the input, inserts, is partitioned by the keys."""

    row: RowType
    keys: tuple[int, ...]
    time: int
