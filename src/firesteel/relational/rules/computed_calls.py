"""Calls of the user's functions, computed before what reads their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import Field, RowType
from firesteel.common.places import errors_at
from firesteel.functions.columns.python_functions import PythonCall
from firesteel.relational.expressions import Expression, InputRef, UserCall, rewritten
from firesteel.relational.logical.derived import PythonCalc
from firesteel.relational.logical.joins import different_names
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.relational.rules.substitution import calls_user, is_deterministic, refs


def refused(expression: Expression, where: str) -> UnsupportedError:
    """Return the error of an expression that calls a function where it cannot be called."""
    name = next(user_calls(expression)).function.name
    with errors_at(expression.whereabouts):
        raise UnsupportedError(f"cannot be called in {where}", who=f"Function {name}")


def user_calls(expression: Expression) -> Iterator[UserCall]:
    """Yield the calls in an expression, and those in their arguments."""
    if isinstance(expression, UserCall):
        yield expression
    for operand in expression.operands:
        yield from user_calls(operand)


class Computed:
    """`values` are expressions over an input as ones over `node`: its columns, and what calls give."""

    def __init__(self, node: LogicalNode, expressions: Sequence[Expression]) -> None:
        self.node = node
        self._known: list[tuple[Expression, int]] = []
        calls = [call for expression in expressions for call in user_calls(expression)]
        self._compute([one for call in calls for one in call.arguments if not calls_user(one)])
        self.values = [rewritten(expression, self._called) for expression in expressions]

    def _called(self, part: Expression) -> Expression:
        """Return the column of a call's results; its arguments call nothing any more."""
        if not isinstance(part, UserCall):
            return part
        place = self._place_of(part)
        if place is None:
            self._compute(part.arguments)
            arguments = tuple(map(self._place_of, part.arguments))
            place = self._call(PythonCall(part.function, tuple(one for one in arguments if one is not None)))
            self._known.append((part, place))
        return InputRef(part.type, place)

    def _call(self, call: PythonCall) -> int:
        fields = self.node.row.fields
        name = different_names([field.name for field in fields] + [f"f{len(fields)}"])[-1]
        row = RowType((*fields, Field(name, call.function.result)), nullable=False)
        if isinstance(self.node, PythonCalc):
            self.node = replace(self.node, calls=(*self.node.calls, call), type=row)
        else:
            self.node = PythonCalc(self.node, (call,), row)
        return len(fields)

    def _place_of(self, value: Expression) -> int | None:
        """Return the column that has a value; None if it has to be computed."""
        if isinstance(value, InputRef):
            return value.index
        if not is_deterministic(value):
            return next((place for known, place in self._known if known is value), None)
        return next((place for known, place in self._known if known == value), None)

    def _compute(self, values: Sequence[Expression]) -> None:
        """Add columns for those values that have none."""
        row = self.node.row
        width = len(row.fields)
        missing: list[Expression] = []
        for value in values:
            if self._place_of(value) is None:
                self._known.append((value, width + len(missing)))
                missing.append(value)
        if missing:
            names = different_names(
                [*row.field_names, *(f"$f{width + place}" for place in range(len(missing)))]
            )
            self.node = Project(self.node, (*refs(row, range(width)), *missing), tuple(names))
