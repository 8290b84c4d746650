"""Which rows of a table are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from firesteel.common.logical_types import LogicalType
from firesteel.functions.columns.pushdowns import Condition


class Bounds(NamedTuple):
    """The rows whose value of a column is from `low` up to `high`, which is included if it is the `last` of all."""

    column: str
    low: int
    high: int
    last: bool


@dataclass(frozen=True)
class Selection:
    """Rows in `bounds` that a condition does not rule out, no more than `limit`; `batch` of them are fetched at once.

    `types` are those that the columns of the condition are read as.
    """

    bounds: Bounds | None
    condition: Condition | None
    types: Mapping[str, LogicalType]
    limit: int | None
    batch: int
