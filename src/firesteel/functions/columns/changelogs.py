"""Between changes and rows that say what has changed, as data."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.common.types import RowKind


@dataclass(frozen=True)
class ToChangelog:
    """A row for each change whose kind is among `codes`: the code of its kind, then the row."""

    output: RowType
    codes: tuple[tuple[RowKind, str], ...]


@dataclass(frozen=True)
class FromChangelog:
    """A change for each row, without its column `op`, which has the code of the change's kind.

    A row whose code is NULL or none of `codes` is an error.
    """

    input: RowType
    op: int
    codes: tuple[tuple[str, RowKind], ...]
