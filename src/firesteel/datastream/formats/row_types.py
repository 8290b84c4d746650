"""The types of formats: those of streams, or those of tables (`DataTypes`), which PyFlink's formats take."""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ArrayType, DecimalType, LogicalType, RowType
from firesteel.common.logical_types.type_information import to_type_information
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation, Types
from firesteel.common.typeinfo.decimals import BigDecimalTypeInfo

_HINT = "such as Types.ROW_NAMED(['id', 'name'], [Types.LONG(), Types.STRING()]), or DataTypes.ROW([...])"


def require_row_type(row_type: Any, who: str) -> RowTypeInfo:
    """Return `Types.ROW`, `Types.ROW_NAMED` or `DataTypes.ROW` as the first two. Raises ProgramError for others."""
    found = _of_stream(row_type)
    if isinstance(found, RowTypeInfo):
        return found
    raise ProgramError(
        "requires a row type", who=who, got=f"{type(row_type).__name__}: {row_type!r}", hint=_HINT
    )


def require_type(given: Any, who: str) -> TypeInformation:
    """Return a type of streams, also of one of tables. Raises ProgramError for anything else."""
    found = _of_stream(given)
    if found is not None:
        return found
    hint = "such as Types.LONG(), or DataTypes.BIGINT()"
    raise ProgramError("requires a type", who=who, got=f"{type(given).__name__}: {given!r}", hint=hint)


def _of_stream(given: Any) -> TypeInformation | None:
    """Return the type of streams; of an array of a table it is a list."""
    if isinstance(given, TypeInformation):
        return given
    kind = getattr(given, "logical_type", None)  # a DataType, which belongs to a layer above
    return _listed(kind) if isinstance(kind, LogicalType) else None


def _listed(kind: LogicalType) -> TypeInformation:
    if isinstance(kind, DecimalType):
        return BigDecimalTypeInfo(kind.precision, kind.scale)
    if isinstance(kind, ArrayType):
        return Types.LIST(_listed(kind.element))
    if isinstance(kind, RowType):
        names = [field.name for field in kind.fields]
        return Types.ROW_NAMED(names, [_listed(field.type) for field in kind.fields])
    return to_type_information(kind)
