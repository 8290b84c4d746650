"""What Flink was asked about functions: expressions over a table with a column of each type, by subject."""

from __future__ import annotations

from .bitmaps import bitmaps
from .casting import TARGETS, casts, reading, shown
from .collecting import COLLECTIONS
from .comparing import comparisons
from .documents import documents
from .lines import lines
from .numbers import CONSTANTS, arithmetic, numeric
from .others import others
from .table import COLUMNS, DERIVED, ROWS
from .texts import TEXT
from .times import TEMPORAL_UNITS, temporal
from .variants import variants

__all__ = ["COLUMNS", "DERIVED", "ROWS", "TARGETS", "TEMPORAL_UNITS", "ZONED", "questions"]

ZONED = ("lz", "lz9", "dts", "UNIX", "TZ", "LTZ")
"""What the answer to depends on the session's zone, if one of these is in the expression."""


def questions() -> dict[str, list[str]]:
    """Return all expressions by subject."""
    subjects = {
        "text": lines(TEXT),
        "comparisons": comparisons(),
        "collections": lines(COLLECTIONS),
        "documents": documents(),
        "constants": lines(CONSTANTS),
        "shown": shown(),
        "reading": reading(),
        "temporal": temporal(),
        "numeric": numeric(),
        "arithmetic": arithmetic(),
        "casts": casts(),
        "variants": variants(),
        "bitmaps": bitmaps(),
        "others": others(),
    }
    return {subject: list(dict.fromkeys(asked)) for subject, asked in subjects.items()}
