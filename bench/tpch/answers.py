"""The rows of an answer as JSON, and whether two systems have the same.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from math import isclose
from typing import Any, Final

Cell = str | float | None
Rows = list[list[Cell]]

_RELATIVE: Final = 1e-4
_ABSOLUTE: Final = 1e-5
"""Systems divide decimals to different numbers of digits, six at least."""


def as_json(rows: Iterable[Iterable[Any]]) -> Rows:
    """Return rows with numbers of all types alike, and all else as texts.

    >>> as_json([(Decimal("1.50"), 2, "x", None)])
    [[1.5, 2.0, 'x', None]]
    """
    return [[_cell(cell) for cell in row] for row in rows]


def _cell(cell: Any) -> Cell:
    if cell is None:
        return None
    return float(cell) if isinstance(cell, int | float | Decimal) else str(cell)


def differences(answers: Sequence[Rows]) -> list[str]:
    """Return what differs between answers, as texts; none if all are the same but for the last digits of quotients.

    The order of rows does not count: those with equal sort keys may come in any.

    >>> differences([[["a", 1.0]], [["a", 1.00001]]])
    []
    >>> differences([[["a", 1.0]], [["a", 2.0]]])
    ["['a', 1.0] is not ['a', 2.0]"]
    """
    found = []
    for one, other in pairwise(sorted(rows, key=_key) for rows in answers):
        if len(one) != len(other):
            found.append(f"{len(one)} rows are not {len(other)}")
        found += [f"{a} is not {b}" for a, b in zip(one, other, strict=False) if not _equal(a, b)]
    return found


def _key(row: list[Cell]) -> tuple[list[str], list[float]]:
    texts = [str(cell) for cell in row if not isinstance(cell, float)]
    return texts, [cell for cell in row if isinstance(cell, float)]


def _equal(one: list[Cell], other: list[Cell]) -> bool:
    return len(one) == len(other) and all(
        isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        if isinstance(a, float) and isinstance(b, float)
        else a == b
        for a, b in zip(one, other, strict=True)
    )
