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
    column if it `shows` it. `retracts` is whether rows can go; if none do, only those up to `end` are kept. With
    `end_column`, one of `keys`, the last rank of a partition is what this column has (NULL: no row is shown), and `end`
    is added to it. A row lives for `time_to_live` milliseconds after a row of its partition with its values of `order`
    has come or gone (None: for ever).
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
    end_column: int | None = None
    time_to_live: int | None = None

    def __post_init__(self) -> None:
        assert len(self.output.fields) == len(self.row.fields) + self.shows
        assert self.end_column is None or self.end_column in self.keys

    @property
    def last(self) -> str:
        """The last rank as text."""
        if self.end_column is None:
            return str(self.end)
        return f"{self.row.field_names[self.end_column]}{f' - {-self.end}' if self.end else ''}"

    @property
    def bounds(self) -> str:
        """The first and the last rank as plans show them."""
        start = "" if self.start == 1 and self.end_column is not None else f"rankStart={self.start}, "
        return f"{start}rankEnd={self.last}"

    @property
    def sets_aside(self) -> bool:
        """Whether rows that cannot be shown now are kept aside from the first ones of their partition."""
        constant = self.end_column is None and self.time_to_live is None
        return self.retracts and not self.latest and constant


@dataclass(frozen=True)
class FirstRow:
    """The first row of each of `keys` by `time`, a row time, once the watermark has passed it; all rows are inserts.

    Rows that are behind the watermark are dropped and counted ("numLateRecordsDropped"). A key has had its row for
    `time_to_live` milliseconds (None: for ever). The input is partitioned by the keys.
    """

    row: RowType
    keys: tuple[int, ...]
    time: int
    time_to_live: int | None = None


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
