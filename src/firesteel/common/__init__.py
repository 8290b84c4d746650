"""The public leaf of Firesteel: types, rows, time, watermark strategies, configuration (PyFlink: pyflink.common)."""

from __future__ import annotations

from firesteel.common.time import Duration, Instant, Time
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.common.types import Row, RowKind

__all__ = ["Duration", "Instant", "Row", "RowKind", "Time", "TypeInformation", "Types"]
