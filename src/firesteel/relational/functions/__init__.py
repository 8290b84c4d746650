"""The scalar functions and operators, as data.

`resolve` makes a call of a name and operands. What SQL writes with words is a function like any other:

=========================================== ======================================================================
SQL                                         name and operands
=========================================== ======================================================================
``a + b``, ``-a``, ``a = b``, ``a || b``    ``+``, ``-``, ``=``, ``||``
``a AND b AND c``                           ``AND`` with two operands or more; ``OR``, ``NOT``
``a IS [NOT] NULL``                         ``IS NULL``, ``IS NOT NULL``; TRUE, FALSE, UNKNOWN, DISTINCT FROM likewise
``a IN (b, c)``                             ``IN`` of all three
``a LIKE b ESCAPE c``                       ``LIKE`` (a, b, c); ``SIMILAR TO`` likewise
``a BETWEEN b AND c``                       ``AND`` of two comparisons
``CASE WHEN a THEN b ELSE c END``           ``CASE`` (a, b, c)
``EXTRACT(YEAR FROM a)``                    ``EXTRACT`` (YEAR, a); the unit is a literal of SymbolType
``TRIM(BOTH a FROM b)``                     ``TRIM`` (BOTH, a, b); BOTH and a blank are what is left out
``POSITION(a IN b FROM c)``                 ``POSITION`` (a, b, c)
``OVERLAY(a PLACING b FROM c FOR d)``       ``OVERLAY`` (a, b, c, d)
``FLOOR(a TO DAY)``                         ``FLOOR`` (a, DAY)
``TIMESTAMPADD(DAY, a, b)``                 ``TIMESTAMPADD`` (DAY, a, b)
``ARRAY[a, b]``, ``MAP[a, b]``, ``ROW(a)``  ``ARRAY``, ``MAP``, ``ROW``
``a[b]``                                    ``ITEM`` (a, b)
``(a, b) OVERLAPS (c, d)``                  ``OVERLAPS`` (a, b, c, d)
``a.b``                                     `field_of`
``CAST(a AS t)``, ``TRY_CAST``              `explicit_cast`
``a IS JSON ARRAY``                         ``IS JSON ARRAY``; of ``IS JSON``, ``IS JSON VALUE``
``JSON_VALUE(a, b NULL ON ERROR)``          see `firesteel.relational.functions.documents`
=========================================== ======================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import LogicalTypeFamily, RowType, StructuredType, SymbolType
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.functions import numerics, texts
from firesteel.relational.functions.bitmaps import BITMAPS
from firesteel.relational.functions.collecting import COLLECTIONS
from firesteel.relational.functions.conditions import CONDITIONS
from firesteel.relational.functions.documents import DOCUMENTS
from firesteel.relational.functions.function import Function, FunctionError, cast, explicit_cast
from firesteel.relational.functions.numerics import NUMERICS
from firesteel.relational.functions.objects import OBJECTS
from firesteel.relational.functions.operators import OPERATORS
from firesteel.relational.functions.resolving import Functions
from firesteel.relational.functions.texts import TEXTS
from firesteel.relational.functions.times import PARTS, TIMES

__all__ = [
    "FUNCTIONS",
    "Function",
    "FunctionError",
    "Functions",
    "cast",
    "explicit_cast",
    "field_of",
    "resolve",
    "symbol",
]

FUNCTIONS: Final = Functions(
    (*OPERATORS, *CONDITIONS, *TEXTS, *NUMERICS, *TIMES, *COLLECTIONS, *DOCUMENTS, *BITMAPS, *OBJECTS),
    {**texts.ALIASES, **numerics.ALIASES},
)


def resolve(name: str, operands: Sequence[Expression]) -> Expression:
    """Return the call of a function or an operator, its operands cast to what it computes with.

    Raises FunctionError if there is no such function, or if it does not take the operands.

    >>> from firesteel.common.logical_types import BigIntType, IntType
    >>> from firesteel.relational.expressions import InputRef
    >>> total = resolve("+", (InputRef(IntType(nullable=False), 0), InputRef(BigIntType(), 1)))
    >>> str(total.type), [str(operand.type) for operand in total.operands]
    ('BIGINT', ['BIGINT NOT NULL', 'BIGINT'])
    """
    if name.upper() in PARTS and len(operands) == 1:
        return FUNCTIONS.resolve("EXTRACT", (symbol(PARTS[name.upper()]), *operands))
    found = FUNCTIONS.resolve(name, operands)
    if found.function == "NULLIF":
        same = FUNCTIONS.resolve("=", operands)
        nothing = Literal(found.type, None)
        return Call(found.type, "CASE", (same, nothing, cast(operands[0], found.type)))
    return _overlapping(found.operands) if found.function == "OVERLAPS" else found


def _overlapping(operands: Sequence[Expression]) -> Expression:
    """Return whether two spans of time have a point in common; each is two points, or one and what is added to it."""
    (one, one_end), (other, other_end) = _span(*operands[:2]), _span(*operands[2:])
    late, early = resolve(">=", (one_end, other)), resolve(">=", (other_end, one))
    return resolve("AND", (late, early))


def _span(start: Expression, end: Expression) -> tuple[Expression, Expression]:
    """Return the earlier point and the later one."""
    if end.type.has_family(LogicalTypeFamily.INTERVAL):
        end = resolve("+", (start, end))
    in_order = resolve("<=", (start, end))
    return resolve("CASE", (in_order, start, end)), resolve("CASE", (in_order, end, start))


def symbol(word: str) -> Literal:
    """Return a word that changes what a function does, as an operand: a unit of time, or a side of TRIM."""
    return Literal(SymbolType(nullable=False), word)


def field_of(row: Expression, place: int) -> Expression:
    """Return the field of a row at a place; its function is named ``FIELD_0``, ``FIELD_1``, ...

    >>> from firesteel.common.logical_types import IntType
    >>> from firesteel.relational.expressions import InputRef
    >>> field_of(InputRef(RowType.of({"n": IntType()}), 0), 0).type
    IntType(nullable=True)
    """
    assert isinstance(row.type, RowType | StructuredType)
    found = row.type.children[place]
    return Call(found.copy(nullable=found.nullable or row.type.nullable), f"FIELD_{place}", (row,))
