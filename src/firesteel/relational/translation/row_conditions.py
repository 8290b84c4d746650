"""Conditions of pattern variables to what is asked of each row: columns that the kernel computes, and code of Python.

A condition on the current row alone is a column of booleans, computed for all rows of a batch at once, unless it can
fail: rows for which nobody asks must not fail. What looks at other rows of the match, too, is asked row by row, as an
expression of Python; whatever Python has no plain counterpart of is a program of the kernel over one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import count
from typing import Final

from firesteel.common.logical_types import (
    CharType,
    DecimalType,
    DoubleType,
    Field,
    FloatType,
    IntegerNumberType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    RowType,
    VarCharType,
)
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.columns import to_column
from firesteel.functions.columns.row_patterns import RowCondition, RowFormula, TotalOf, ValueAt
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.logical.printing import expression_text
from firesteel.relational.row_patterns import Definition, MatchTime, RowsTotal, RowValue
from firesteel.relational.rules.substitution import all_of, conjuncts
from firesteel.relational.translation import program
from firesteel.runtime.columns.matching.plain_values import plain

Located = Callable[[RowValue | RowsTotal], ValueAt | TotalOf]
"""Gives what an operator does for a value of other rows."""

_R: Final = LogicalTypeRoot
_DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 19}
"""The digits of whole numbers by their bits."""
_COMPARED: Final = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TEMPORAL: Final = LogicalTypeFamily.DATETIME
_NEVER_FAILING: Final = frozenset({"java_upper", "java_lower", "floating_text", "value_text", "initcap"})
"""Vectorised functions that have a value for all rows."""


class EventColumns:
    """The columns that are computed of each row, each expression once."""

    def __init__(self, given: RowType, zone: str) -> None:
        self.given = given
        self.zone = zone
        self.expressions: list[Expression] = []

    def place(self, expression: Expression) -> int:
        """Return the place of the column of an expression over the input."""
        if expression not in self.expressions:
            self.expressions.append(expression)
        return self.expressions.index(expression)

    def can_fail(self, expression: Expression) -> bool:
        """Return whether the expression may fail for some row."""
        found = program(self.given, [expression], ["value"], zone=self.zone)
        families = {name.removeprefix("~").split("|")[0] for name in found.functions}
        return not families <= _NEVER_FAILING or any("error(" in formula.text for formula in found.columns)


class _NoPythonError(Exception):
    """Python has no plain counterpart of a part of an expression."""


def row_condition(definition: Definition, columns: EventColumns, located: Located) -> RowCondition:
    """Return what is asked for a variable; adds columns that the current row needs."""
    parts = conjuncts(definition.condition)
    alone = [part for part in parts if _is_of_one_row(part) and not columns.can_fail(part)]
    column = columns.place(all_of(alone)) if alone else None
    rest = [part for part in parts if part not in alone]
    formulas = tuple(_formula(part, columns, located) for part in rest)
    return RowCondition(definition.variable, column, formulas, definition.text)


def row_parts(expression: Expression) -> Iterator[RowValue | RowsTotal]:
    """Yield the values of other rows in an expression."""
    if isinstance(expression, RowValue | RowsTotal):
        yield expression
        return
    for operand in expression.operands:
        yield from row_parts(operand)


def _is_of_one_row(expression: Expression) -> bool:
    return not isinstance(expression, RowValue | RowsTotal | MatchTime) and all(
        map(_is_of_one_row, expression.operands)
    )


def _formula(condition: Expression, columns: EventColumns, located: Located) -> RowFormula:
    writer = _Python(columns, located)
    try:
        code = writer.truth(condition)
    except _NoPythonError:
        return _program(condition, columns, located)
    return RowFormula(code, tuple(writer.values))


def _program(condition: Expression, columns: EventColumns, located: Located) -> RowFormula:
    """Return a condition as a program over columns of the current row and values of others."""
    refs = list(dict.fromkeys(_refs(condition)))
    parts = list(dict.fromkeys(row_parts(condition)))
    fields = [*(ref.type for ref in refs), *(part.type.copy(nullable=True) for part in parts)]
    names = [expression_text(value, columns.given.field_names) for value in (*refs, *parts)]
    row = RowType(tuple(map(Field, names, fields)), nullable=False)

    def changed(part: Expression) -> Expression:
        if isinstance(part, RowValue | RowsTotal):
            place = len(refs) + parts.index(part)
            return InputRef(fields[place], place)
        if isinstance(part, InputRef):
            return InputRef(part.type, refs.index(part))
        return part

    made = program(row, [_replaced(condition, changed)], ["holds"], zone=columns.zone)
    return RowFormula(made, tuple(map(located, parts)), tuple(map(columns.place, refs)))


def _replaced(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression whose values of other rows are changed as a whole."""
    if isinstance(expression, RowValue | RowsTotal | InputRef):
        return change(expression)
    return (
        expression.with_operands(tuple(_replaced(operand, change) for operand in expression.operands))
        if expression.operands
        else expression
    )


def _refs(expression: Expression) -> Iterator[InputRef]:
    if isinstance(expression, InputRef):
        yield expression
    elif not isinstance(expression, RowValue | RowsTotal):
        for operand in expression.operands:
            yield from _refs(operand)


class _Python:
    """Writes an expression as code; see `RowFormula` for the names in it. NULL is None."""

    def __init__(self, columns: EventColumns, located: Located) -> None:
        self._columns = columns
        self._located = located
        self._names = count()
        self.values: list[ValueAt | TotalOf] = []

    def truth(self, expression: Expression) -> str:
        """Return code that is true if the expression is TRUE, and false if it is FALSE or NULL."""
        match expression:
            case Call(function="AND"):
                return f"({' and '.join(map(self.truth, expression.operands))})"
            case Call(function="OR"):
                return f"({' or '.join(map(self.truth, expression.operands))})"
            case Call(function="NOT", arguments=(inner,)):
                return self.falsity(inner)
            case Call(function="IS NULL" | "IS NOT NULL" as test, arguments=(inner,)):
                return f"({self.value(inner)} {test.lower().replace('null', 'None')})"
            case Call(function=function, arguments=(one, two)) if function in _COMPARED:
                return self._compared(function, one, two, "")
        return f"({self.value(expression)} is True)"

    def falsity(self, expression: Expression) -> str:
        """Return code that is true if the expression is FALSE."""
        match expression:
            case Call(function="AND"):
                return f"({' or '.join(map(self.falsity, expression.operands))})"
            case Call(function="OR"):
                return f"({' and '.join(map(self.falsity, expression.operands))})"
            case Call(function="NOT", arguments=(inner,)):
                return self.truth(inner)
            case Call(function="IS NULL" | "IS NOT NULL"):
                return f"(not {self.truth(expression)})"
            case Call(function=function, arguments=(one, two)) if function in _COMPARED:
                return self._compared(function, one, two, "not ")
        return f"({self.value(expression)} is False)"

    def value(self, expression: Expression) -> str:
        """Return code of the expression's value."""
        match expression:
            case RowValue() | RowsTotal():
                return self._of_rows(expression)
            case Literal():
                return _constant(expression)
            case InputRef():
                _require(expression.type)
                return f"C[{self._columns.place(expression)}][p]"
        if _is_of_one_row(expression) and not self._columns.can_fail(expression):
            _require(expression.type)
            return f"C[{self._columns.place(expression)}][p]"
        match expression:
            case Call(function="CAST", arguments=(inner,)):
                return self._cast(inner, expression.type)
            case Call(function="+" | "-" | "*" as function, arguments=(one, two)):
                return self._arithmetic(function, one, two, expression.type)
            case Call(function="COALESCE"):
                return self._coalesce(expression.operands)
            case Call(function="CASE", arguments=arguments):
                branches = zip(arguments[:-1:2], arguments[1::2], strict=False)
                code = self.value(arguments[-1])
                for condition, value in reversed([*branches]):
                    code = f"({self.value(value)} if {self.truth(condition)} else {code})"
                return code
        raise _NoPythonError

    def _of_rows(self, part: RowValue | RowsTotal) -> str:
        _require(part.type)
        found = self._located(part)
        if found not in self.values:
            self.values.append(found)
        return f"V[{self.values.index(found)}](m, p)"

    def _compared(self, function: str, one: Expression, two: Expression, negated: str) -> str:
        if _kind(one.type) != _kind(two.type):
            raise _NoPythonError
        tests, names = self._present(one, two)
        return f"({' and '.join([*tests, f'{negated}{names[0]} {_COMPARED[function]} {names[1]}'])})"

    def _present(self, *operands: Expression) -> tuple[list[str], list[str]]:
        """Return tests that operands are not NULL, which give them names, and the names."""
        tests, names = [], []
        for operand in operands:
            code = self.value(operand)
            if isinstance(operand, Literal) and operand.value is not None:
                names.append(code)
                continue
            name = f"x{next(self._names)}"
            tests.append(f"({name} := {code}) is not None")
            names.append(name)
        return tests, names

    def _arithmetic(self, function: str, one: Expression, two: Expression, kind: LogicalType) -> str:
        whole = isinstance(kind, IntegerNumberType)
        if not whole and not isinstance(kind, DoubleType):
            raise _NoPythonError
        if _kind(one.type) != _kind(kind) or _kind(two.type) != _kind(kind):
            raise _NoPythonError
        tests, names = self._present(one, two)
        result = f"{names[0]} {function} {names[1]}"
        if isinstance(kind, IntegerNumberType):
            half = 1 << kind.bits - 1
            result = f"(({result} + {half} & {2 * half - 1}) - {half})"
        return f"({result} if {' and '.join(tests) or 'True'} else None)"

    def _coalesce(self, operands: Sequence[Expression]) -> str:
        code = self.value(operands[-1])
        for operand in reversed(operands[:-1]):
            name = f"x{next(self._names)}"
            code = f"({name} if ({name} := {self.value(operand)}) is not None else {code})"
        return code

    def _cast(self, inner: Expression, target: LogicalType) -> str:
        source, code = inner.type, self.value(inner)
        if source.copy(nullable=True) == target.copy(nullable=True) or _widens(source, target):
            return code
        number = isinstance(source, IntegerNumberType)
        if (number or isinstance(source, FloatType)) and isinstance(target, DoubleType):
            name = f"x{next(self._names)}"
            return f"(None if ({name} := {code}) is None else float({name}))"
        raise _NoPythonError


def _widens(source: LogicalType, target: LogicalType) -> bool:
    """Return whether a cast changes no value."""
    if isinstance(source, IntegerNumberType) and isinstance(target, IntegerNumberType):
        return source.bits <= target.bits
    if isinstance(target, DecimalType) and isinstance(source, DecimalType | IntegerNumberType):
        exact = (
            _DIGITS[source.bits] if isinstance(source, IntegerNumberType) else source.precision - source.scale
        )
        scale = 0 if isinstance(source, IntegerNumberType) else source.scale
        return target.precision - target.scale >= exact and target.scale >= scale
    if isinstance(source, VarCharType | CharType) and isinstance(target, VarCharType):
        return source.length <= target.length
    return False


def _kind(data_type: LogicalType) -> object:
    """Return what two values have in common that can be compared as values of Python."""
    if data_type.has_family(LogicalTypeFamily.CHARACTER_STRING):
        return str
    if isinstance(data_type, IntegerNumberType):
        return int
    if isinstance(data_type, DoubleType | FloatType):
        return data_type.root
    if isinstance(data_type, DecimalType):
        return Decimal
    if data_type.root is _R.BOOLEAN:
        return bool
    if data_type.has_family(_TEMPORAL):
        return to_arrow(data_type)
    raise _NoPythonError


def _require(data_type: LogicalType) -> None:
    """Require a type whose values are plain ones of Python, or times as numbers; see `firesteel.runtime`."""
    _kind(data_type)


def _constant(literal: Literal) -> str:
    if literal.value is None:
        return "None"
    if _kind(literal.type) is Decimal:
        return f"Decimal({str(literal.value)!r})"
    if literal.type.has_family(_TEMPORAL):
        (number,) = plain(to_column([literal.value], literal.type, "value"))
        return repr(number)
    if isinstance(literal.type, DoubleType | FloatType):
        return f"float({repr(literal.value)!r})"
    return repr(literal.value)
