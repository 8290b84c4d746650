"""Fields within rows within columns, as paths: the place of a column, then places of fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.relational.expressions import Call, Expression, InputRef
from firesteel.relational.functions import field_of

Path = tuple[int, ...]
"""The place of a column, and that of a field in it, and so on; a column itself has no more than its place."""

_FIELD: Final = "FIELD_"


def path_of(expression: Expression) -> Path | None:
    """Return the path that an expression reads and does nothing more; None for any other.

    >>> from firesteel.common.logical_types import parse_type
    >>> row = InputRef(parse_type("ROW<n INT, s STRING>"), 3)
    >>> path_of(field_of(row, 1)), path_of(row)
    ((3, 1), (3,))
    """
    if isinstance(expression, InputRef):
        return (expression.index,)
    if isinstance(expression, Call) and expression.function.startswith(_FIELD):
        (inner,) = expression.arguments
        below = path_of(inner) if isinstance(inner.type, RowType) else None
        return None if below is None else (*below, int(expression.function.removeprefix(_FIELD)))
    return None


def paths_in(expressions: Iterable[Expression]) -> frozenset[Path]:
    """Return the paths that expressions read; one within another that is read, too, is left out."""
    found = frozenset(path for expression in expressions for path in _paths(expression))
    return frozenset(path for path in found if not any(path[:size] in found for size in range(1, len(path))))


def _paths(expression: Expression) -> Iterator[Path]:
    path = path_of(expression)
    if path is not None:
        yield path
    else:
        for operand in expression.operands:
            yield from _paths(operand)


def at_paths(expression: Expression, places: Mapping[Path, int]) -> Expression:
    """Return an expression over columns that have what is at these paths; it may read what is within them."""
    path = path_of(expression)
    if path is not None and path in places:
        return InputRef(expression.type, places[path], place=expression.place)
    operands = tuple(at_paths(operand, places) for operand in expression.operands)
    return expression.with_operands(operands) if operands else expression


def read_at(row: RowType, path: Path) -> Expression:
    """Return the expression that reads a path of a row."""
    first, *fields = path
    found: Expression = InputRef(row.fields[first].type, first)
    for place in fields:
        found = field_of(found, place)
    return found


def names_at(row: RowType, paths: Iterable[Path]) -> list[str]:
    """Return the names of columns for paths, as Flink has them; one that is taken has an underscore more.

    >>> from firesteel.common.logical_types import parse_type
    >>> names_at(parse_type("ROW<bid ROW<price BIGINT>, bid_price INT>"), [(1,), (0, 0)])
    ['bid_price', 'bid_price_']
    """
    names: list[str] = []
    for path in paths:
        name = _name_at(row, path)
        while name in names:
            name += "_"
        names.append(name)
    return names


def _name_at(row: RowType, path: Path) -> str:
    names = []
    kind: LogicalType = row
    for place in path:
        assert isinstance(kind, RowType)
        names.append(kind.fields[place].name)
        kind = kind.fields[place].type
    return "_".join(names)
