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
