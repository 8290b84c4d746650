"""SqlDialect: which SQL statements are written in."""

from __future__ import annotations

from enum import Enum

__all__ = ["SqlDialect"]


class SqlDialect(Enum):
    """A dialect; there is Flink's own, DEFAULT, and that of Hive, which is not supported."""

    DEFAULT = "default"
    HIVE = "hive"
