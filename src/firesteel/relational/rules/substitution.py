"""Expressions over one relation, said of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Final

from firesteel.common.logical_types import BooleanType, RowType
from firesteel.relational.expressions import (
    AggregateCall,
    Call,
    Expression,
    InputRef,
    Literal,
    UserCall,
    references,
    rewritten,
)
from firesteel.relational.functions import FUNCTIONS

ALWAYS: Final = Literal(BooleanType(nullable=False), True)
"""The condition that is TRUE for all rows."""


def substituted(expression: Expression, columns: Sequence[Expression]) -> Expression:
    """Return an expression over `columns` as one over what those are computed of.

    >>> from firesteel.common.logical_types import BigIntType
    >>> substituted(InputRef(BigIntType(), 1), [InputRef(BigIntType(), 0), InputRef(BigIntType(), 7)]).index
    7
    """
    return rewritten(expression, lambda part: columns[part.index] if isinstance(part, InputRef) else part)


def moved(expression: Expression, places: Mapping[int, int]) -> Expression:
    """Return an expression with the columns at other places."""
    return rewritten(
        expression,
        lambda part: replace(part, index=places[part.index]) if isinstance(part, InputRef) else part,
    )


def columns_of(call: AggregateCall) -> tuple[int, ...]:
    """Return the places of the columns that an aggregate reads."""
    filtered = () if call.filter is None else (call.filter,)
    return (*call.arguments, *filtered, *(place for place, _ in call.order))


def moved_call(call: AggregateCall, places: Mapping[int, int]) -> AggregateCall:
    """Return an aggregate of columns at other places."""
    return replace(
        call,
        arguments=tuple(places[place] for place in call.arguments),
        filter=None if call.filter is None else places[call.filter],
        order=tuple((places[place], ascending) for place, ascending in call.order),
    )


def is_deterministic(expression: Expression) -> bool:
    """Return whether an expression has one value for one row."""
    if isinstance(expression, UserCall) and not expression.function.deterministic:
        return False
    if isinstance(expression, Call) and expression.function in FUNCTIONS:
        function = FUNCTIONS.find(expression.function)
        return function.deterministic and all(map(is_deterministic, expression.operands))
    return all(map(is_deterministic, expression.operands))


def can_be_inlined(columns: Sequence[Expression], readers: Iterable[Expression]) -> bool:
    """Return whether expressions over `columns` mean the same with the columns computed in place.

    They do not if a column with another value each time is read more than once. What a function of the user's computes
    is not to be computed twice, either.
    """
    reads = Counter(index for reader in readers for index in references(reader))
    return all(reads[place] < 2 or _can_be_repeated(column) for place, column in enumerate(columns))


def _can_be_repeated(column: Expression) -> bool:
    return is_deterministic(column) and not calls_user(column)


def calls_user(expression: Expression) -> bool:
    """Return whether a function of the user's is part of an expression."""
    return isinstance(expression, UserCall) or any(map(calls_user, expression.operands))


def refs(row: RowType, places: Iterable[int]) -> tuple[InputRef, ...]:
    """Return references to columns of a relation."""
    return tuple(InputRef(row.fields[place].type, place) for place in places)


def conjuncts(condition: Expression) -> list[Expression]:
    """Return the conditions that `AND` joins."""
    return _operands("AND", condition)


def alternatives(condition: Expression) -> list[Expression]:
    """Return the conditions that `OR` joins."""
    return _operands("OR", condition)


def all_of(conditions: Sequence[Expression]) -> Expression:
    """Return at least one condition joined with `AND`."""
    return reduce(partial(_joined, "AND"), conditions)


def any_of(conditions: Sequence[Expression]) -> Expression:
    """Return at least one condition joined with `OR`."""
    return reduce(partial(_joined, "OR"), conditions)


def _operands(function: str, condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == function:
        return [part for operand in condition.arguments for part in _operands(function, operand)]
    return [condition]


def _joined(function: str, first: Expression, other: Expression) -> Expression:
    nullable = first.type.nullable or other.type.nullable
    return Call(first.type.copy(nullable), function, (first, other))
