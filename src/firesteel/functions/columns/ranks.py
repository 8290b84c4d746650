"""What ranks do, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.sorting import SortColumn

RankFunction = Literal["ROW_NUMBER", "RANK", "DENSE_RANK"]


@dataclass(frozen=True)
class Rank:
    """The rows of each partition whose rank is from `start` to `end`, both included.

    `keys` are the columns that partition the rows, by which the input is partitioned, too. Of rows that are equal in
    `order` those that came first are first, with `latest` those that came last. `output` has the rank as its last
    column if it `shows` it. `retracts` is whether rows can go; if none do, only those up to `end` are kept.
    """

    row: RowType
    output: RowType
    keys: tuple[int, ...]
    order: tuple[SortColumn, ...]
    function: RankFunction
    start: int
    end: int
    shows: bool = True
    latest: bool = False
    retracts: bool = False

    def __post_init__(self) -> None:
        assert len(self.output.fields) == len(self.row.fields) + self.shows


@dataclass(frozen=True)
class WindowRank:
    """The rows of each partition of a window whose rank is within bounds, as `rank` says, whose `keys` are the others.

    `start` and `end` are the places of the columns that say when windows start and end (local time of `zone`). Rows
    come out once, when the watermark has passed the end of their window; later ones are dropped and counted
    ("numLateRecordsDropped"). All rows are inserts.
    """

    rank: Rank
    start: int
    end: int
    zone: str = "UTC"
