"""Functions of Flink's SQL that are not there, or not with all of their forms, with the reasons."""

from __future__ import annotations

from typing import Final

MISSING: Final[dict[str, str]] = {
    "ML_EVALUATE": "Flink 2.3 has no operator for it, either; write a query over what ML_PREDICT gives",
}
"""Those that are refused, by their names in SQL."""

PARTLY: Final[dict[str, str]] = {
    "SOURCE_WATERMARK": "of tables that a program makes of streams; connectors have no watermarks of their own",
    "PRINTF": "no `%h`, no times (`%tY`), no `%a` with a precision; no bytes, arrays, maps and rows",
    "OBJECT_OF": "not without attributes",
}
"""Those that work, but for these forms, which are refused."""
