"""What table functions give for each row, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firesteel.common.logical_types import RowType


@dataclass(frozen=True)
class Unnest:
    """The elements of a collection: of an ARRAY, a MAP (keys and values) or a MULTISET (each as often as it is there).

    Elements that are rows give a column for each of their fields. With `ordinality` a last column counts the elements
    of a collection from 1.
    """

    collection: Literal["ARRAY", "MAP", "MULTISET"]
    ordinality: bool = False


TableFunction = Unnest
"""A function that gives rows for its arguments."""


@dataclass(frozen=True)
class Correlate:
    """Each row of an input with each of the rows that a table function gives for it.

    `arguments` are the columns of the input that the function takes, `kept` those that stay and come first. With
    `keeps`, a row for which it gives none is there once, with NULLs.
    """

    row: RowType
    output: RowType
    function: TableFunction
    arguments: tuple[int, ...]
    kept: tuple[int, ...]
    keeps: bool = False

    def __post_init__(self) -> None:
        assert len(self.kept) <= len(self.output.fields)
