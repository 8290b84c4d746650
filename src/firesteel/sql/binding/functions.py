"""Calls of scalar functions and operators, with errors that have a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from firesteel.common.errors import SqlError
from firesteel.common.logical_types import LogicalType
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.logical_types.temporal import regular
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.functions import FunctionError, cast, explicit_cast, resolve
from firesteel.sql.binding.places import Text


def called(
    function: str, operands: Sequence[Expression], node: exp.Expr, text: Text, places: Sequence[exp.Expr] = ()
) -> Expression:
    """Return the call of a scalar function, its operands cast as it requires.

    `places` are the nodes of the operands. Raises SqlValidationError for an unknown function and for operands that it
    does not take.
    """
    try:
        found = resolve(function, tuple(operands))
    except SqlError:
        raise
    except FunctionError as error:
        at = error.argument
        place = places[at] if at is not None and at < len(places) else node
        raise text.located(place, error) from None
    kind = regular(found.type)
    return found if function == "PROCTIME" or kind is found.type else replace(found, type=kind)


def materialized(value: Expression) -> Expression:
    """Return a value that is no time attribute: of one, the time."""
    kind = regular(value.type)
    return value if kind is value.type else Call(kind, "CAST", (value,))


def written_cast(
    value: Expression, target: LogicalType, attempt: bool, node: exp.Expr, text: Text
) -> Expression:
    """Return what CAST or, with `attempt`, TRY_CAST gives; raises SqlValidationError where Flink has no such cast."""
    try:
        found = explicit_cast(value, target, tried=attempt)
    except FunctionError as error:
        raise text.located(node, error) from None
    return materialized(found) if found is value else found


def as_type(value: Expression, target: LogicalType) -> Expression:
    """Return a value as one of another type, which it can be cast to; constants stay constants where they can."""
    wanted = target.copy(nullable=value.type.nullable)
    if isinstance(value, Literal) and isinstance(value.value, str) and wanted.root is not value.type.root:
        same = supports_implicit_cast(value.type, wanted) and value.type != wanted
        return Literal(wanted, value.value) if same else cast(value, target)
    if isinstance(value, Literal) and value.type != wanted and value.type.root is wanted.root:
        return Literal(wanted, value.value)
    return cast(value, target)
