"""What a scalar function is: its signatures and the type of its result, as data.

Contract: a `Signature` decides about operands from the left, casts those that it takes to the types it wants, and knows
the type of the result. It never looks at values, but at literals where a type depends on them (the digits of ROUND).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import BooleanType, LogicalType, LogicalTypeFamily, NullType
from firesteel.common.logical_types.casts import supports_explicit_cast
from firesteel.relational.expressions import Call, Expression, Literal

_F = LogicalTypeFamily
Result = Callable[[Sequence[Expression]], LogicalType]
"""Gives the type of a call of operands that have been cast already."""


class FunctionError(ProgramError):
    """A function does not exist, or not for such operands.

    `argument` is the place of the operand that is wrong, None if it is not one operand.
    """

    def __init__(
        self,
        requirement: str,
        *,
        who: str | None = None,
        got: str | None = None,
        hint: str | None = None,
        argument: int | None = None,
    ) -> None:
        super().__init__(requirement, who=who, got=got, hint=hint)
        self.argument = argument


@dataclass(frozen=True)
class Parameter:
    """A place in a signature; `accepts` gives the type that an operand is cast to, None if it does not fit.

    `shown` is its name in errors. `nothing` is the type of a NULL that has none itself.
    """

    shown: str
    accepts: Callable[[LogicalType], LogicalType | None]
    nothing: LogicalType

    def target(self, operand: Expression) -> LogicalType | None:
        """Return the type that an operand is to have, None if it does not fit."""
        return self.nothing if isinstance(operand.type, NullType) else self.accepts(operand.type)


@dataclass(frozen=True)
class Signature:
    """A list of parameters, of which the last `optional` may be left out, and the last one may be `repeated`.

    `together` gives the types that operands are cast to where each depends on all of them; None if they have no such
    types.
    """

    parameters: tuple[Parameter, ...]
    result: Result
    optional: int = 0
    repeated: bool = False
    together: Callable[[Sequence[Expression]], Sequence[LogicalType] | None] | None = None
    tried: bool = False
    """Whether a text that is no time counts as NULL where it is cast to one."""

    def takes(self, count: int) -> bool:
        """Return whether there can be so many operands."""
        most = len(self.parameters)
        return most - self.optional <= count and (self.repeated or count <= most)

    def parameter(self, place: int) -> Parameter:
        """Return the parameter of an operand."""
        return self.parameters[min(place, len(self.parameters) - 1)]

    def shown(self, name: str) -> str:
        """Return the signature as errors show it."""
        texts = [parameter.shown for parameter in self.parameters]
        if self.repeated:
            texts.append("...")
        needed = len(self.parameters) - self.optional
        optional = "".join(f" [, {text}" for text in texts[needed:]) + "]" * (len(texts) - needed)
        return f"{name}({', '.join(texts[:needed])}{optional if needed else optional.removeprefix(' [, ')})"


@dataclass(frozen=True)
class Function:
    """A scalar function or operator.

    One that is not `deterministic` gives another result each time (RAND); a `temporal` one gives the time of the query
    or of the row, so that it is no constant either. A `strict` one is NULL if one of its operands is.
    """

    name: str
    signatures: tuple[Signature, ...]
    deterministic: bool = True
    temporal: bool = False
    strict: bool = True


def cast(operand: Expression, to: LogicalType) -> Expression:
    """Return the operand as a value of type `to`, whose nullability is ignored; without a CAST if it is one already.

    >>> from firesteel.common.logical_types import BigIntType, IntType
    >>> from firesteel.relational.expressions import InputRef
    >>> cast(InputRef(IntType(nullable=False), 0), BigIntType()).type
    BigIntType(nullable=False)
    """
    wanted = to.copy(nullable=operand.type.nullable)
    if operand.type == wanted:
        return operand
    if isinstance(operand, Literal) and operand.value is None:
        return Literal(to.copy(nullable=True), None)
    return Call(wanted, "CAST", (operand,))


def explicit_cast(operand: Expression, to: LogicalType, *, tried: bool = False) -> Expression:
    """Return CAST(operand AS to), or TRY_CAST if `tried`.

    Raises FunctionError if there is no such cast.
    """
    name = "TRY_CAST" if tried else "CAST"
    is_truth_of_number = isinstance(to, BooleanType) and operand.type.has_family(_F.NUMERIC)
    is_number_of_interval = operand.type.has_family(_F.INTERVAL) and to.has_family(_F.NUMERIC)
    is_known = is_truth_of_number or supports_explicit_cast(operand.type, to.copy(nullable=True))
    if is_number_of_interval or not is_known:
        hint = None
        if isinstance(to, BooleanType) or isinstance(operand.type, BooleanType):
            hint = "compare with a value instead"
        raise FunctionError(
            f"requires a type that can be cast to {to.copy(nullable=True)}",
            who=name,
            got=str(operand.type),
            hint=hint,
            argument=0,
        )
    if tried:
        return Call(to.copy(nullable=True), name, (operand,))
    return cast(operand, to)
