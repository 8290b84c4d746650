"""What an expression is made of; printed as Flink prints it (Flink: Expression.asSummaryString).

A call has the name that Flink prints: ``plus``, ``upper``, ``ARRAY_APPEND``. `firesteel.table.expressing.syntax` knows
what each of them is in SQL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    IntType,
    LogicalType,
    NullType,
    TimestampType,
    TimeType,
)
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.sql.binding.types import MILLISECONDS

if TYPE_CHECKING:
    from firesteel.relational.logical.nodes import LogicalNode


@dataclass(frozen=True)
class Name:
    """A column, a window, or (``*``) all columns."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Value:
    """A constant of a type."""

    value: Any
    type: LogicalType

    def __str__(self) -> str:
        return _shown(self.value)


@dataclass(frozen=True)
class Word:
    """A word that says how a function works: a unit of time, a bound of a window."""

    word: str

    def __str__(self) -> str:
        return self.word


@dataclass(frozen=True)
class Kind:
    """A type, which a value becomes."""

    type: LogicalType

    def __str__(self) -> str:
        return str(self.type)


@dataclass(frozen=True)
class Rows:
    """The rows of a table, among which a value is looked for; `name` is what errors call it."""

    plan: LogicalNode
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class TableRows:
    """The rows of a table as the argument of a function, in sets of equal keys, each of which is in an order."""

    plan: LogicalNode
    keys: tuple[Tree, ...] = ()
    order: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        return "table"


@dataclass(frozen=True)
class Call:
    """A function of arguments; `user` is the function itself if it is one of the program's own."""

    function: str
    arguments: tuple[Tree, ...]
    user: UserFunction | None = None

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Text:
    """An expression that is written in SQL."""

    sql: str

    def __str__(self) -> str:
        return f"[{self.sql}]"


Tree = Name | Value | Word | Kind | Rows | TableRows | Call | Text


def value_of(value: object) -> Value:
    """Return a Python value as a constant, its type as Flink derives it.

    Raises ProgramError for values that are none of SQL's constants.

    >>> str(value_of("it's")), str(value_of("it's").type)
    ("'it''s'", 'CHAR(4) NOT NULL')
    """
    kind = _type_of(value)
    if kind is None:
        raise ProgramError(
            "requires a constant: a number, a text, bytes, a truth value, a date or a time",
            who="lit",
            got=f"{type(value).__name__}: {value!r:.80}",
            hint="array(...), row(...) and map_(...) make values of several parts",
        )
    return Value(value, kind if value is None else kind.copy(nullable=False))


def _type_of(value: object) -> LogicalType | None:
    match value:
        case None:
            return NullType()
        case bool():
            return BooleanType()
        case int():
            return IntType() if -(2**31) <= value < 2**31 else BigIntType()
        case str():
            return CharType(len(value))
        case bytes():
            return BinaryType(len(value))
        case Decimal():
            return _decimal(value)
        case dt.datetime():
            return TimestampType(6 if value.microsecond % 1000 else 3 if value.microsecond else 0)
        case dt.date():
            return DateType()
        case dt.time():
            return TimeType(0 if not value.microsecond else 3)
        case dt.timedelta():
            return MILLISECONDS
    return DoubleType() if isinstance(value, float) else None


def _decimal(value: Decimal) -> DecimalType:
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return DecimalType(max(len(digits), scale, 1), scale)


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return str(list(value))
        case dt.timedelta():
            return str(value // dt.timedelta(milliseconds=1))
        case dt.datetime():
            return value.isoformat(sep="T")
    return str(value)


def parts(tree: Tree) -> Iterator[Tree]:
    """Yield an expression and all parts of it, outer ones first."""
    yield tree
    if isinstance(tree, Call):
        for argument in tree.arguments:
            yield from parts(argument)


def replaced(tree: Tree, change: Callable[[Tree], Tree | None]) -> Tree:
    """Return an expression with other parts: what `change` gives instead of one, which is kept where that is None."""
    found = change(tree)
    if found is not None:
        return found
    if not isinstance(tree, Call):
        return tree
    return Call(tree.function, tuple(replaced(part, change) for part in tree.arguments), tree.user)


def with_named(tree: Tree, known: Mapping[str, Tree]) -> Tree:
    """Return an expression with what names stand for instead of the names."""
    return replaced(tree, lambda part: known.get(part.name) if isinstance(part, Name) else None)
