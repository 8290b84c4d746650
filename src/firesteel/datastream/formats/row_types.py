"""The row types of formats."""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import RowTypeInfo


def require_row_type(row_type: Any, who: str) -> RowTypeInfo:
    """Return `row_type` if it is `Types.ROW` or `Types.ROW_NAMED`. Raises ProgramError for anything else."""
    if isinstance(row_type, RowTypeInfo):
        return row_type
    raise ProgramError(
        "requires a row type",
        who=who,
        got=f"{type(row_type).__name__}: {row_type!r}",
        hint="such as Types.ROW_NAMED(['id', 'name'], [Types.LONG(), Types.STRING()])",
    )
