"""Constant folding: the kernel computes what depends on no column, once.

Contract: an expression's type stays, and so does its value for every row. What fails when it is computed is left as it
is, so that it fails where a row needs it; so are random numbers and the current time.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from firesteel.common.errors import FiresteelError
from firesteel.common.logical_types import LogicalType, LogicalTypeRoot, RowType
from firesteel.common.logical_types.python_values import from_column
from firesteel.relational.expressions import Call, Expression, Literal, rewritten
from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement

_R = LogicalTypeRoot
_NOTHING: Final = RowType((), nullable=False)
_ONE_ROW: Final = pa.RecordBatch.from_struct_array(pa.array([{}], pa.struct([])))
_KEPT: Final = frozenset({"CAST", "TRY_CAST"})
_INEXACT: Final = (_R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE)


def folded(expression: Expression, zone: str = "UTC") -> Expression:
    """Return an expression with all that is constant in it computed; `zone` is the session's time zone.

    >>> from firesteel.common.logical_types import IntType
    >>> from firesteel.relational.expressions import InputRef
    >>> from firesteel.relational.functions import resolve
    >>> two = Literal(IntType(nullable=False), 2)
    >>> folded(resolve("+", [InputRef(IntType(), 0), resolve("*", [two, two])])).operands[1]
    Literal(type=IntType(nullable=False), value=4)
    """
    return rewritten(expression, lambda part: _computed(part, zone))


def _computed(part: Expression, zone: str) -> Expression:
    if not isinstance(part, Call) or not _is_constant(part):
        return part
    try:
        statement = Statement(program(_NOTHING, [part], ["value"], zone=zone), "constant")
        column = statement.run(ColumnBatch(_ONE_ROW)).rows.column(0)
        statement.close()
        (value,) = from_column(column, part.type)
    except FiresteelError:
        return part
    return Literal(part.type, value, place=part.place)


def _is_constant(call: Call) -> bool:
    if not all(isinstance(operand, Literal) for operand in call.operands) or not _can_be_literal(call.type):
        return False
    if call.function in _KEPT or call.function.startswith("FIELD_"):
        return True
    function = FUNCTIONS.find(call.function)
    return function.deterministic and not function.temporal


def _can_be_literal(data_type: LogicalType) -> bool:
    """Return whether Python has all values of a type: not the parts of a second beyond microseconds."""
    fine = data_type.root in _INEXACT and getattr(data_type, "precision", 0) > 6
    return not data_type.children and not fine and data_type.root is not _R.NULL
