"""The list of aggregate functions: which arguments they take, and the types of their results.

Aggregates of columns (`SUM`), and functions of windows only (`ROW_NUMBER`, `LAG`). What computes them looks at the name
in `AggregateCall` and `OverCall`; it is the name of this list, whichever of its other names was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import (
    ArrayType,
    BigIntType,
    BitmapType,
    DoubleType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    MultisetType,
    VarCharType,
)
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.logical_types.decimals import average_type, sum_type
from firesteel.common.suggestions import did_you_mean
from firesteel.functions.columns.python_functions import PythonAggregate
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.functions.function import cast

_F = LogicalTypeFamily
_R = LogicalTypeRoot
_Test = Callable[[LogicalType], bool]
_Result = Callable[[Sequence[LogicalType]], LogicalType]
_COUNT: Final = BigIntType(nullable=False)
_JSON: Final = VarCharType(2000, nullable=False)


class Argument(NamedTuple):
    """What an argument has to be: a description for errors, and the test of its type."""

    what: str
    accepts: _Test


@dataclass(frozen=True)
class AggregateFunction:
    """An aggregate function, or a function of windows.

    `arguments` are all that it can have, of which `least` must be there; with `many`, the last one may be repeated.
    `result` gives the type by those of the arguments. `of_nothing` means that it is NULL for a group without rows.
    `ranks` means that it exists over windows only, and `ordered` that those must have an order. `user` is the function
    if it is one of the user's.
    """

    name: str
    arguments: tuple[Argument, ...]
    least: int
    result: _Result
    of_nothing: bool = True
    many: bool = False
    ranks: bool = False
    ordered: bool = False
    user: PythonAggregate | None = None

    @property
    def signature(self) -> str:
        """Return the function with its arguments, for errors."""
        words = [argument.what for argument in self.arguments]
        words[self.least :] = [f"[{word}]" for word in words[self.least :]]
        name = self.name.removesuffix("_NULL_ON_NULL").removesuffix("_ABSENT_ON_NULL")
        return f"{name}({', '.join(words)}{', ...' if self.many else ''})"


class ResolvedAggregate(NamedTuple):
    """A function of the list with its arguments as it takes them; `type` is that for groups that have rows."""

    function: AggregateFunction
    arguments: tuple[Expression, ...]
    type: LogicalType


def _number(kind: LogicalType) -> bool:
    return kind.has_family(_F.NUMERIC) or kind.root is _R.NULL


def _text(kind: LogicalType) -> bool:
    return kind.has_family(_F.CHARACTER_STRING) or kind.root is _R.NULL


def _comparable(kind: LogicalType) -> bool:
    constructed = kind.has_family(_F.CONSTRUCTED) or kind.has_family(_F.USER_DEFINED)
    return not constructed and kind.root not in (_R.RAW, _R.VARIANT, _R.BITMAP)


_ANY: Final = Argument("value", lambda _: True)
_NUMBER: Final = Argument("number", _number)
_TEXT: Final = Argument("text", _text)
_WHOLE: Final = Argument("whole number", lambda kind: kind.has_family(_F.INTEGER_NUMERIC))
_COMPARABLE: Final = Argument("value that can be compared", _comparable)
_BITMAP: Final = Argument("bitmap", lambda kind: kind.root in (_R.BITMAP, _R.NULL))
_SHORT: Final = Argument("INT", lambda kind: kind.root in (_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.NULL))


def _share(kind: LogicalType) -> bool:
    part = kind.element if isinstance(kind, ArrayType) else kind
    return part.has_family(_F.NUMERIC) and not part.nullable and not kind.nullable


_SHARE: Final = Argument("number from 0 to 1, or array of such, that is NOT NULL", _share)


def _same(kinds: Sequence[LogicalType]) -> LogicalType:
    return kinds[0]


def _always(kind: LogicalType) -> _Result:
    return lambda _: kind


def _nullable(kinds: Sequence[LogicalType]) -> LogicalType:
    return kinds[0].copy(nullable=True)


def _offset(kinds: Sequence[LogicalType]) -> LogicalType:
    """Return the type of LAG and LEAD: NULL is possible unless there is a default that is not."""
    if len(kinds) < 3:
        return kinds[0].copy(nullable=True)
    return kinds[0].copy(nullable=kinds[0].nullable or kinds[2].nullable)


def _aggregate(
    name: str, *arguments: Argument, result: _Result, least: int | None = None, of_nothing: bool = True
) -> AggregateFunction:
    needed = len(arguments) if least is None else least
    return AggregateFunction(name, arguments, needed, result, of_nothing=of_nothing)


def _percentiles(kinds: Sequence[LogicalType]) -> LogicalType:
    return ArrayType(DoubleType()) if isinstance(kinds[1], ArrayType) else DoubleType()


def _of_bitmaps(name: str, argument: Argument) -> tuple[AggregateFunction, AggregateFunction]:
    """Return the function that gives a bitmap, and the one that gives the number of its members."""
    count = _aggregate(f"BITMAP_{name}_CARDINALITY_AGG", argument, result=_always(BigIntType()))
    return _aggregate(f"BITMAP_{name}_AGG", argument, result=_always(BitmapType())), count


def _ranking(
    name: str, *arguments: Argument, result: _Result, least: int = 0, ordered: bool = True
) -> AggregateFunction:
    return AggregateFunction(name, arguments, least, result, of_nothing=False, ranks=True, ordered=ordered)


def _of_average(name: str) -> AggregateFunction:
    return _aggregate(name, _NUMBER, result=lambda kinds: average_type(kinds[0]))


_LIST: Final = (
    AggregateFunction("COUNT", (_ANY,), 0, _always(_COUNT), of_nothing=False, many=True),
    _aggregate("APPROX_COUNT_DISTINCT", _ANY, result=_always(_COUNT), of_nothing=False),
    _aggregate("SUM", _NUMBER, result=lambda kinds: sum_type(kinds[0])),
    _aggregate(
        "$SUM0", _NUMBER, result=lambda kinds: sum_type(kinds[0]).copy(nullable=False), of_nothing=False
    ),
    *(_of_average(name) for name in ("AVG", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP")),
    _aggregate("MIN", _COMPARABLE, result=_same),
    _aggregate("MAX", _COMPARABLE, result=_same),
    _aggregate("FIRST_VALUE", _ANY, result=_same),
    _aggregate("LAST_VALUE", _ANY, result=_same),
    _aggregate("SINGLE_VALUE", _ANY, result=_same),
    _aggregate("LISTAGG", _TEXT, _TEXT, least=1, result=_same),
    _aggregate(
        "COLLECT", _ANY, result=lambda kinds: MultisetType(kinds[0], nullable=False), of_nothing=False
    ),
    _aggregate("ARRAY_AGG", _ANY, result=lambda kinds: ArrayType(kinds[0], nullable=False)),
    _aggregate("PERCENTILE", _NUMBER, _SHARE, _WHOLE, least=2, result=_percentiles),
    *_of_bitmaps("BUILD", _SHORT),
    *(function for name in ("AND", "OR", "XOR") for function in _of_bitmaps(name, _BITMAP)),
    *(
        _aggregate(name, _TEXT, _ANY, result=_always(_JSON), of_nothing=False)
        for name in ("JSON_OBJECTAGG_NULL_ON_NULL", "JSON_OBJECTAGG_ABSENT_ON_NULL")
    ),
    *(
        _aggregate(name, _ANY, result=_always(_JSON), of_nothing=False)
        for name in ("JSON_ARRAYAGG_NULL_ON_NULL", "JSON_ARRAYAGG_ABSENT_ON_NULL")
    ),
    *(
        _ranking(name, result=_always(_COUNT), ordered=name != "ROW_NUMBER")
        for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")
    ),
    *(_ranking(name, result=_always(DoubleType(nullable=False))) for name in ("PERCENT_RANK", "CUME_DIST")),
    _ranking("NTILE", _WHOLE, least=1, result=_always(_COUNT)),
    *(_ranking(name, _ANY, _WHOLE, _ANY, least=1, result=_offset) for name in ("LAG", "LEAD")),
)
_ALIASES: Final = {"STDDEV": "STDDEV_SAMP", "VARIANCE": "VAR_SAMP"}
AGGREGATES: Final = {function.name: function for function in _LIST}
"""The functions by their names."""


def is_aggregate(name: str) -> bool:
    """Return whether a name is that of an aggregate function or of a function of windows, in any case.

    >>> is_aggregate("sum"), is_aggregate("upper")
    (True, False)
    """
    upper = name.upper()
    return upper in AGGREGATES or upper in _ALIASES


def resolve_aggregate(name: str, arguments: Sequence[Expression]) -> ResolvedAggregate:
    """Return the function of a name with its arguments.

    Raises ProgramError for an unknown name and for arguments that it does not take.

    >>> from firesteel.common.logical_types import IntType
    >>> from firesteel.relational.expressions import Literal
    >>> number = Literal(IntType(), 5)
    >>> str(resolve_aggregate("count", [number]).type), str(resolve_aggregate("max", [number]).type)
    ('BIGINT NOT NULL', 'INT')
    """
    upper = name.upper()
    function = AGGREGATES.get(_ALIASES.get(upper, upper))
    if function is None:
        hint = did_you_mean(name, AGGREGATES)
        raise ProgramError("requires the name of an aggregate function", got=name, hint=hint)
    _check(function, arguments)
    taken = _typed(function, arguments)
    return ResolvedAggregate(function, taken, function.result([argument.type for argument in taken]))


def user_aggregate(function: PythonAggregate, arguments: Sequence[Expression]) -> ResolvedAggregate:
    """Return a function of the user's with its arguments, which it has been found to take.

    Its result has its type whatever rows there are: a group without rows has that of a new accumulator.
    """
    made = AggregateFunction("$USER", (), 0, _always(function.result), of_nothing=False, user=function)
    return ResolvedAggregate(made, tuple(arguments), function.result)


def _check(function: AggregateFunction, arguments: Sequence[Expression]) -> None:
    most = len(arguments) if function.many else len(function.arguments)
    if not function.least <= len(arguments) <= most:
        raise ProgramError(
            f"requires arguments as in {function.signature}",
            who=function.name,
            got=f"{len(arguments)} arguments",
        )
    for place, argument in enumerate(arguments):
        expected = function.arguments[min(place, len(function.arguments) - 1)]
        if not expected.accepts(argument.type):
            got = f"{argument.type} as argument {place + 1}"
            raise ProgramError(
                f"requires a {expected.what} in {function.signature}", who=function.name, got=got
            )


def _check_shares(argument: Expression) -> None:
    """Raise ProgramError for a constant that is no share of a group."""
    for share in argument.operands if isinstance(argument, Call) else (argument,):
        if isinstance(share, Literal) and not 0 <= share.value <= 1:
            raise ProgramError("requires a share from 0 to 1", who="PERCENTILE", got=str(share.value))


def _typed(function: AggregateFunction, arguments: Sequence[Expression]) -> tuple[Expression, ...]:
    """Return the arguments as the function takes them.

    The default of LAG has the type of its value, and the shares of PERCENTILE are of type DOUBLE.
    """
    if function.name == "PERCENTILE":
        _check_shares(arguments[1])
        share = DoubleType(nullable=False)
        several = isinstance(arguments[1].type, ArrayType)
        shares = cast(arguments[1], ArrayType(share, nullable=False) if several else share)
        return arguments[0], shares, *arguments[2:]
    if function.name not in ("LAG", "LEAD") or len(arguments) < 3:
        return tuple(arguments)
    value, offset, default = arguments
    wanted = value.type.copy(nullable=default.type.nullable)
    if not supports_implicit_cast(default.type.copy(nullable=False), wanted.copy(nullable=False)):
        got = f"{default.type} for a value of {value.type}"
        raise ProgramError("requires a default of the value's type", who=function.name, got=got)
    return value, offset, default if default.type == wanted else Call(wanted, "CAST", (default,))


def result_type(resolved: ResolvedAggregate, *, may_be_empty: bool) -> LogicalType:
    """Return the type of an aggregate's result, given whether there are groups without rows that count.

    >>> from firesteel.common.logical_types import IntType
    >>> from firesteel.relational.expressions import Literal
    >>> total = resolve_aggregate("sum", [Literal(IntType(nullable=False), 5)])
    >>> str(result_type(total, may_be_empty=True)), str(result_type(total, may_be_empty=False))
    ('INT', 'INT NOT NULL')
    """
    if may_be_empty and resolved.function.of_nothing:
        return resolved.type.copy(nullable=True)
    return resolved.type
