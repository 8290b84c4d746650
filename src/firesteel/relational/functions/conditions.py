"""Functions that choose among values: CASE, COALESCE, GREATEST and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import STRING, BooleanType, LogicalType
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.function import Function, Parameter, Signature
from firesteel.relational.functions.operators import TRUTH, comparable
from firesteel.relational.functions.parameters import ANY, AS_STRING, BOOLEAN
from firesteel.relational.functions.results import (
    all_common,
    any_nullable,
    common,
    exactly,
    nullable,
    nullable_operand,
)

CONDITION: Final = Parameter(
    "<BOOLEAN>", lambda given: given if isinstance(given, BooleanType) else None, BooleanType()
)


def chosen(operands: Sequence[Expression]) -> list[Expression]:
    """Return the values among the operands of CASE: those after conditions, and the last one."""
    return [*operands[1:-1:2], operands[-1]]


def _case_types(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    found = common(chosen(operands))
    if found is None or len(operands) % 2 == 0:
        return None
    conditions = operands[0:-1:2]
    if not all(isinstance(condition.type, BooleanType) for condition in conditions):
        return None
    return [*([BooleanType(), found] * len(conditions)), found]


def _case_result(operands: Sequence[Expression]) -> LogicalType:
    values = chosen(operands)
    return values[-1].type.copy(nullable=any_nullable(values))


def _if_types(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    found = common(operands[1:])
    return None if found is None else [BooleanType(), found, found]


def _if_result(operands: Sequence[Expression]) -> LogicalType:
    return operands[1].type.copy(nullable=any_nullable(operands))


def _first_known(operands: Sequence[Expression]) -> LogicalType:
    """Return the common type, nullable if all operands are."""
    return operands[0].type.copy(nullable=all(part.type.nullable for part in operands))


def _all_known(operands: Sequence[Expression]) -> LogicalType:
    return operands[0].type.copy(nullable=any_nullable(operands))


def _nullif_types(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    return [part.type for part in operands] if comparable(operands) else None


CONDITIONS: Final = (
    Function(
        "CASE",
        (Signature((ANY, ANY, ANY), _case_result, repeated=True, together=_case_types),),
        strict=False,
    ),
    Function("IF", (Signature((CONDITION, ANY, ANY), _if_result, together=_if_types),), strict=False),
    Function(
        "COALESCE", (Signature((ANY,), _first_known, repeated=True, together=all_common),), strict=False
    ),
    Function("IFNULL", (Signature((ANY, ANY), _first_known, together=all_common),), strict=False),
    Function("NULLIF", (Signature((ANY, ANY), nullable_operand(0), together=_nullif_types),), strict=False),
    *(
        Function(name, (Signature((ANY,), _all_known, repeated=True, together=all_common),))
        for name in ("GREATEST", "LEAST")
    ),
    Function(
        "TYPEOF",
        (
            Signature((ANY,), nullable(STRING)),
            Signature((ANY, BOOLEAN), nullable(STRING)),
        ),
        strict=False,
    ),
    *(
        Function(name, (Signature((AS_STRING,), exactly(TRUTH.copy(nullable=False))),), strict=False)
        for name in ("IS_ALPHA", "IS_DIGIT", "IS_DECIMAL")
    ),
)
