"""Scans that read no more than what is computed of their rows."""

from __future__ import annotations

from collections.abc import Mapping

from firesteel.relational.expressions import Expression
from firesteel.relational.paths import Path, at_paths, paths_in
from firesteel.relational.physical.nodes import Calc, TableSourceScan

Read = tuple[TableSourceScan, tuple[Expression, ...], Expression | None]
"""A scan, and expressions and a condition over its columns."""


def reading(scan: TableSourceScan, calc: Calc) -> Read:
    """Return the scan of what a calculation over it reads, with the calculation's expressions over that.

    A scan whose source always reads all is the same.
    """
    parts = calc.expressions if calc.condition is None else (*calc.expressions, calc.condition)
    paths = tuple(sorted(paths_in(parts)))
    if any(len(path) > 1 for path in paths):
        narrow = scan.with_fields(paths)
        if narrow is not None:
            return _over(narrow, calc, {path: place for place, path in enumerate(paths)})
    narrow = scan.narrowed(calc.used)
    if narrow is None:
        return scan, calc.expressions, calc.condition
    return _over(narrow, calc, {(place,): now for now, place in enumerate(calc.used)})


def _over(scan: TableSourceScan, calc: Calc, places: Mapping[Path, int]) -> Read:
    condition = None if calc.condition is None else at_paths(calc.condition, places)
    return scan, tuple(at_paths(one, places) for one in calc.expressions), condition
