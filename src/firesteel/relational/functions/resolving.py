"""A function's name and operands to a typed call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firesteel.common.logical_types import LogicalType, LogicalTypeFamily
from firesteel.common.suggestions import did_you_mean
from firesteel.relational.expressions import Call, Expression
from firesteel.relational.functions.function import Function, FunctionError, Signature, cast, explicit_cast


class Functions:
    """A list of functions, found by name; upper and lower case are the same."""

    def __init__(self, functions: Sequence[Function], aliases: dict[str, str]) -> None:
        self._functions = {function.name: function for function in functions}
        assert len(self._functions) == len(functions)
        self._functions |= {alias: self._functions[name] for alias, name in aliases.items()}

    def __contains__(self, name: str) -> bool:
        return name.upper() in self._functions

    def names(self) -> list[str]:
        """Return the names of all functions, aliases included, sorted."""
        return sorted(self._functions)

    def find(self, name: str) -> Function:
        """Return a function. Raises FunctionError, with a suggestion, if there is none of that name."""
        function = self._functions.get(name.upper())
        if function is not None:
            return function
        raise self.unknown(name)

    def unknown(self, name: str, others: Iterable[str] = ()) -> FunctionError:
        """Return the error of a name that no function has; its suggestion may be one of `others`, too."""
        words = [known for known in self._functions if known[0].isalpha() and " " not in known]
        hint = did_you_mean(name.rpartition(".")[2], [*others, *words])
        return FunctionError("is no function that Firesteel has", who=name, hint=hint)

    def resolve(self, name: str, operands: Sequence[Expression]) -> Call:
        """Return the call of a function, with its operands cast as it requires; see the package."""
        function = self.find(name)
        for signature in function.signatures:
            found = _matched(signature, operands)
            if found is not None:
                return Call(signature.result(found), function.name, found)
        raise _mismatch(function, operands)


def _matched(signature: Signature, operands: Sequence[Expression]) -> tuple[Expression, ...] | None:
    """Return the operands cast to what the signature wants; None if it does not take them."""
    if not signature.takes(len(operands)):
        return None
    found = list(operands)
    if signature.together is not None:
        types = signature.together(operands)
        if types is None:
            return None
        if any(signature.parameter(place).target(part) is None for place, part in enumerate(operands)):
            return None
        convert = _tried_cast if signature.tried else cast
        return tuple(convert(part, target) for part, target in zip(operands, types, strict=True))
    for place, part in enumerate(operands):
        target = signature.parameter(place).target(part)
        if target is None:
            return None
        found[place] = cast(part, target)
    return tuple(found)


def _tried_cast(operand: Expression, target: LogicalType) -> Expression:
    """Return an operand as a value of a type; NULL for a text that is no time."""
    is_text = operand.type.has_family(LogicalTypeFamily.CHARACTER_STRING)
    if is_text and target.has_family(LogicalTypeFamily.DATETIME):
        return explicit_cast(operand, target, tried=True)
    return cast(operand, target)


def _mismatch(function: Function, operands: Sequence[Expression]) -> FunctionError:
    shown = " or ".join(signature.shown(function.name) for signature in function.signatures)
    given = ", ".join(str(part.type) for part in operands)
    fitting = [signature for signature in function.signatures if signature.takes(len(operands))]
    if not fitting:
        return FunctionError(
            f"requires operands as in {shown}", who=function.name, got=f"{len(operands)} operands ({given})"
        )
    return FunctionError(
        f"requires operands as in {shown}",
        who=function.name,
        got=f"({given})",
        hint="write a CAST where the types differ",
        argument=_first_wrong(fitting, operands),
    )


def _first_wrong(signatures: Sequence[Signature], operands: Sequence[Expression]) -> int | None:
    """Return the place of the operand that no signature takes."""
    for place, part in enumerate(operands):
        if all(signature.parameter(place).target(part) is None for signature in signatures):
            return place
    return None
