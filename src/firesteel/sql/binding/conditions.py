"""Conditions: WHERE, ON, HAVING."""

from __future__ import annotations

from sqlglot import exp

from firesteel.common.logical_types import BooleanType, NullType
from firesteel.relational.expressions import Expression
from firesteel.relational.functions import cast
from firesteel.sql.binding.expressions import Expressions


def as_condition(binder: Expressions, node: exp.Expr) -> Expression:
    """Return a condition; raises SqlValidationError for a value that is no truth value."""
    found = binder.bind(node)
    if isinstance(found.type, NullType):
        return cast(found, BooleanType())
    if not isinstance(found.type, BooleanType):
        raise binder.context.text.wrong(
            node, f"requires a condition (BOOLEAN) in {binder.clause}", got=f"a value of {found.type}"
        )
    return found
