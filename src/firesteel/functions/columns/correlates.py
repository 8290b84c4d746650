"""What table functions give for each row, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.python_functions import PythonTableFunction


@dataclass(frozen=True)
class Unnest:
    """The elements of a collection: of an ARRAY, a MAP (keys and values) or a MULTISET (each as often as it is there).

    Elements that are rows give a column for each of their fields. With `ordinality` a last column counts the elements
    of a collection from 1.
    """

    collection: Literal["ARRAY", "MAP", "MULTISET"]
    ordinality: bool = False


TableFunction = Unnest | PythonTableFunction
"""A function that gives rows for its arguments."""


@dataclass(frozen=True)
class Correlate:
    """Each row of an input with each of the rows that a table function gives for it.

    `arguments` are the columns of the input that the function takes, `kept` those that stay and come first. Only those
    rows count that `condition` finds by their numbers (None: all), a program over the columns of the output and the
    number. With `keeps`, a row for which no other counts is there once, with NULLs. `zone` is the session's time zone.
    """

    row: RowType
    output: RowType
    function: TableFunction
    arguments: tuple[int, ...]
    kept: tuple[int, ...]
    keeps: bool = False
    condition: Program | None = None
    zone: str = "UTC"

    def __post_init__(self) -> None:
        assert len(self.kept) <= len(self.output.fields)
