"""Scans that read no more than what is computed of their rows, of the rows that count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from firesteel.relational.expressions import Expression
from firesteel.relational.paths import Path, at_paths, paths_in
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.source_conditions import PartitionFilter, chooses_partitions, condition_of
from firesteel.relational.rules.substitution import all_of, can_be_inlined, conjuncts, substituted

Read = tuple[TableSourceScan, tuple[Expression, ...], Expression | None]
"""A scan, and expressions and a condition over its columns."""


def reading(scan: TableSourceScan, calc: Calc) -> Read:
    """Return the scan of what a calculation over it reads, with the calculation's expressions over that.

    A scan whose source always reads all is the same.
    """
    parts = calc.expressions if calc.condition is None else (*calc.expressions, calc.condition)
    paths = tuple(sorted(paths_in(parts)))
    whole = scan.whole
    if whole is not None and (scan.paths or any(len(path) > 1 for path in paths)):
        origins = {path: _origin(scan, whole, path) for path in paths or ((0,),)}
        wanted = tuple(sorted({*origins.values()}))
        narrow = None if scan.limit is not None else whole.with_fields(wanted)
        if narrow is not None:
            return _over(narrow, calc, {path: wanted.index(origin) for path, origin in origins.items()})
        if scan.paths:
            return scan, calc.expressions, calc.condition
    narrow = scan.narrowed(calc.used)
    if narrow is None:
        return scan, calc.expressions, calc.condition
    return _over(narrow, calc, {(place,): now for now, place in enumerate(calc.used)})


def _origin(scan: TableSourceScan, whole: TableSourceScan, path: Path) -> Path:
    """Return the path in a scan of all columns of what is at a path of another scan of the table."""
    first, *fields = path
    place, *above = scan.paths[first] if scan.paths else (first,)
    return (whole.columns.index(scan.columns[place]), *above, *fields)


def _over(scan: TableSourceScan, calc: Calc, places: Mapping[Path, int]) -> Read:
    condition = None if calc.condition is None else at_paths(calc.condition, places)
    return scan, tuple(at_paths(one, places) for one in calc.expressions), condition


def over_scan(
    given: PhysicalNode, expressions: tuple[Expression, ...], condition: Expression | None
) -> Read | None:
    """Return what is computed of a node as what is computed of the scan below it; None if it is not all on a scan."""
    if not isinstance(given, Calc) or given.condition is not None:
        return None
    scan, columns = given.input, given.expressions
    readers = expressions if condition is None else (*expressions, condition)
    if not isinstance(scan, TableSourceScan) or not can_be_inlined(columns, readers):
        return None
    checked = None if condition is None else substituted(condition, columns)
    return scan, tuple(substituted(one, columns) for one in expressions), checked


def sifted(
    scan: TableSourceScan, condition: Expression, zone: str
) -> tuple[TableSourceScan, Expression | None]:
    """Return the scan of those rows that a condition does not rule out, and what of it is left to check.

    The source decides what speaks of partitions alone. Of the rest it may leave out rows, but promises nothing.
    """
    whole = scan.whole
    if whole is None:
        return scan, condition
    parts = [(part, substituted(part, scan.read)) for part in conjuncts(condition)]
    chosen = [part for _, part in parts if chooses_partitions(part, scan.table)]
    found = whole.with_partitions(PartitionFilter(all_of(chosen), zone)) if chosen else None
    if found is not None:
        whole, parts = found, [both for both in parts if both[1] not in chosen]
    known = tuple(part for _, part in parts if condition_of(part, scan.table) is not None)
    whole = (whole.with_filters(known) if known else None) or whole
    narrow = scan if whole is scan.whole else whole.with_columns_of(scan)
    if narrow is None:
        return scan, condition
    return narrow, all_of([part for part, _ in parts]) if parts else None


def limited(given: PhysicalNode, rows: int) -> PhysicalNode:
    """Return a node that need not give more than so many rows, any of them."""
    if isinstance(given, TableSourceScan):
        return given.with_limit(rows) or given
    if isinstance(given, Calc) and given.condition is None:
        return replace(given, input=limited(given.input, rows))
    return given
