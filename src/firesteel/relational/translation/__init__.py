"""Expressions to programs of the kernel.

A translation for each function says how DuckDB computes what Flink means; where DuckDB means something else, the
translation makes it the same, or calls a vectorised function of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from firesteel.common.logical_types import Field, IntegerNumberType, RowType
from firesteel.common.places import errors_at
from firesteel.functions.columns.program import Formula, Program
from firesteel.relational.expressions import Call, Expression, InputRef
from firesteel.relational.translation import (
    arithmetic,
    arrays,
    bitmaps,
    buckets,
    casts,
    collecting,
    conditions,
    documents,
    formats,
    numbers,
    objects,
    texts,
    times,
)
from firesteel.relational.translation.shown import shown
from firesteel.relational.translation.translator import Translation, Translator
from firesteel.relational.translation.wholes import whole

__all__ = ["TRANSLATIONS", "program", "shown"]

TRANSLATIONS: Final[dict[str, Translation]] = {
    **arithmetic.TRANSLATIONS,
    **conditions.TRANSLATIONS,
    **casts.TRANSLATIONS,
    **texts.TRANSLATIONS,
    **numbers.TRANSLATIONS,
    **times.TRANSLATIONS,
    **collecting.TRANSLATIONS,
    **arrays.TRANSLATIONS,
    **documents.TRANSLATIONS,
    **buckets.TRANSLATIONS,
    **bitmaps.TRANSLATIONS,
    **formats.TRANSLATIONS,
    **objects.TRANSLATIONS,
}


def program(
    given: RowType,
    expressions: Sequence[Expression],
    names: Sequence[str],
    condition: Expression | None = None,
    zone: str = "UTC",
) -> Program:
    """Return the program that computes expressions of the rows for which a condition is TRUE.

    `names` are those of the results; `zone` is the session's time zone. Raises UnsupportedError, with its name, for a
    function that cannot be computed.

    >>> from firesteel.common.logical_types import IntType
    >>> from firesteel.relational.functions import resolve
    >>> row = RowType.of({"n": IntType()})
    >>> number = InputRef(IntType(), 0)
    >>> found = program(row, [number, resolve("*", [number, number])], ["n", "square"])
    >>> [(formula.shown, formula.column, formula.text) for formula in found.columns]
    [('n', 0, '"0"'), ('n * n', None, '("0" * "0")')]
    """
    functions: dict[str, None] = {}
    numbers = count()
    columns = tuple(_formula(part, given, zone, functions, numbers) for part in expressions)
    kept = None if condition is None else _formula(condition, given, zone, functions, numbers)
    types = (expression.type for expression in expressions)
    output = RowType(tuple(map(Field, names, types)), nullable=False)
    return Program(given, output, columns, kept, tuple(functions), zone)


def _formula(
    expression: Expression, given: RowType, zone: str, functions: dict[str, None], numbers: Iterator[int]
) -> Formula:
    place = expression.whereabouts
    plain, careful = (
        Translator(TRANSLATIONS, zone, careful=careful, numbers=numbers) for careful in (False, True)
    )
    with errors_at(place):
        text, other = plain.text(expression), careful.text(expression)
    functions |= plain.functions | careful.functions
    return Formula(
        text,
        shown(expression, given.field_names),
        expression.type,
        _column(expression),
        None if text == other else other,
        None if place is None else place.pointer,
        whole(expression, zone),
    )


def _column(expression: Expression) -> int | None:
    """Return the place of the column that an expression is, but for a wider type of whole numbers."""
    match expression:
        case InputRef(index=index):
            return index
        case Call(
            function="CAST",
            type=IntegerNumberType() as wide,
            arguments=(InputRef(index=index, type=IntegerNumberType() as narrow),),
        ):
            return index if narrow.bits <= wide.bits else None
    return None
