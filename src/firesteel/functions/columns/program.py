"""Programs: the filters and projections of one chain, as expressions that the kernel computes in one go."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import LogicalType, RowType


@dataclass(frozen=True)
class Formula:
    """An expression for the kernel.

    `text` is an expression of the kernel's SQL over the columns `"0"`, `"1"`, ... of the input. `shown` is the
    expression as the user knows it, for errors. `column` is the place of the input's column if the expression is
    nothing else (then the kernel has no work to do).
    """

    text: str
    shown: str
    type: LogicalType
    column: int | None = None


@dataclass(frozen=True)
class Program:
    """Computes `columns` (named as in `output`) of the rows for which `condition` is TRUE (None: of all rows).

    `functions` are the names of the vectorised functions that the texts call besides the kernel's own. `zone` is the
    session's time zone. Kinds of change go along with their rows, and the order of rows stays.
    """

    input: RowType
    output: RowType
    columns: tuple[Formula, ...]
    condition: Formula | None = None
    functions: tuple[str, ...] = ()
    zone: str = "UTC"
