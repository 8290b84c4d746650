"""What sorting and limiting operators do, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from firesteel.common.logical_types import RowType


class SortColumn(NamedTuple):
    """A column to sort by; with `nulls_first`, NULL comes before all values, whichever way they are sorted."""

    column: int
    ascending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Sort:
    """Gives all rows once the input has ended, sorted: those after the first `offset`, at most `fetch` (None: all)."""

    row: RowType
    order: tuple[SortColumn, ...]
    offset: int = 0
    fetch: int | None = None


@dataclass(frozen=True)
class Limit:
    """Passes on the rows after the first `offset`, at most `fetch` (None: all), in the order in which they come."""

    offset: int = 0
    fetch: int | None = None


@dataclass(frozen=True)
class Top:
    """Keeps the rows after the first `offset`, `fetch` of them, of a table that changes, sorted by `order`.

    Rows that are equal in it are in the order of their arrival. `retracts` is whether rows can go.
    """

    row: RowType
    order: tuple[SortColumn, ...]
    offset: int
    fetch: int
    retracts: bool = False


@dataclass(frozen=True)
class TemporalSort:
    """Gives rows in the order of their time attribute `time`, and then of `order`, as the watermark passes them.

    Without `time` they are sorted by processing time.
    """

    row: RowType
    time: int | None
    order: tuple[SortColumn, ...] = ()
