"""Programs: the filters and projections of one chain, as expressions that the kernel computes in one go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.common.places import Pointer


@dataclass(frozen=True)
class Whole:
    """Arithmetic of whole numbers of `bits` bits, which wraps around as in Java. It is fast without the kernel.

    `function` is "column" (`value` is its place), "number" (`value` itself), an operator of two operands, "CAST" to a
    wider type, or "INSTANT" (a timestamp in microseconds of milliseconds since 1970). The second operand of "/" and "%"
    is a number above 0.
    """

    function: str
    bits: int
    operands: tuple[Whole, ...] = ()
    value: int = 0


@dataclass(frozen=True)
class Formula:
    """An expression for the kernel.

    `text` is an expression of the kernel's SQL over the columns `"0"`, `"1"`, ... of the input. `shown` is the
    expression as the user knows it, for errors. `column` is the place of the input's column if the expression is
    nothing else, or that column as a wider whole number (then the kernel has no work to do). `careful` is a slower text
    that never fails because a number is out of range, where Flink wraps it around or has NULL; None if `text` is as
    good. `pointer` is where the user wrote the expression. `whole` is the same as arithmetic, if it is nothing else. A
    text may name `"now"` and `"watermark"`, too: the current processing time and the watermark, as timestamps of UTC.
    And `"query"`, a number that no other query of the process has.
    """

    text: str
    shown: str
    type: LogicalType
    column: int | None = None
    careful: str | None = None
    pointer: Pointer | None = field(default=None, compare=False, repr=False)
    whole: Whole | None = None


@dataclass(frozen=True)
class Program:
    """Computes `columns` (named as in `output`) of the rows for which `condition` is TRUE (None: of all rows).

    `functions` are the names of the vectorised functions that the texts call besides the kernel's own. `zone` is the
    session's time zone. Kinds of change go along with their rows, and the order of rows stays.
    """

    input: RowType
    output: RowType
    columns: tuple[Formula, ...]
    condition: Formula | None = None
    functions: tuple[str, ...] = ()
    zone: str = "UTC"

    @cached_property
    def reads(self) -> frozenset[int]:
        """The places of the input's columns that are needed."""
        formulas = self.columns if self.condition is None else (*self.columns, self.condition)
        passed = {formula.column for formula in formulas if formula.column is not None}
        texts = [text for formula in formulas for text in (formula.text, formula.careful or "")]
        return frozenset(passed | {place for text in texts for place in columns_named(text)})


_COLUMN: Final = re.compile(r'"(\d+)"')
_REASON: Final = re.compile(r"⟦(.*?)⟧", re.DOTALL)


def columns_named(text: str) -> list[int]:
    """Return the places of the columns that a text names.

    >>> columns_named('"0" + "12"')
    [0, 12]
    """
    return [int(name) for name in _COLUMN.findall(text)]


def marked_reason(text: str) -> str:
    """Return why an expression cannot be computed, as a formula's text or a function raises it within any error.

    >>> found_reason("Invalid Input Error: " + marked_reason("division by zero"))
    'division by zero'
    """
    return f"⟦{text}⟧"


def found_reason(error: str) -> str | None:
    """Return the reason within the text of an error, None if there is none."""
    found = _REASON.search(error)
    return found.group(1) if found else None
