"""Roots and families: the kind of a type, without parameters (Flink: LogicalTypeRoot, LogicalTypeFamily)."""

from __future__ import annotations

from enum import Enum


class LogicalTypeFamily(Enum):
    """A group of roots that have something in common; rules for casts are stated for families."""

    PREDEFINED = "PREDEFINED"
    CONSTRUCTED = "CONSTRUCTED"
    USER_DEFINED = "USER_DEFINED"
    CHARACTER_STRING = "CHARACTER_STRING"
    BINARY_STRING = "BINARY_STRING"
    NUMERIC = "NUMERIC"
    INTEGER_NUMERIC = "INTEGER_NUMERIC"
    EXACT_NUMERIC = "EXACT_NUMERIC"
    APPROXIMATE_NUMERIC = "APPROXIMATE_NUMERIC"
    DATETIME = "DATETIME"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    INTERVAL = "INTERVAL"
    COLLECTION = "COLLECTION"
    EXTENSION = "EXTENSION"
    DESCRIPTOR = "DESCRIPTOR"


_F = LogicalTypeFamily
_INTEGER = (_F.PREDEFINED, _F.NUMERIC, _F.INTEGER_NUMERIC, _F.EXACT_NUMERIC)
_APPROXIMATE = (_F.PREDEFINED, _F.NUMERIC, _F.APPROXIMATE_NUMERIC)
_TIMESTAMP = (_F.PREDEFINED, _F.DATETIME, _F.TIMESTAMP)


class LogicalTypeRoot(Enum):
    """The kind of a type. `families` are the groups that it belongs to.

    >>> LogicalTypeFamily.NUMERIC in LogicalTypeRoot.DECIMAL.families
    True
    """

    families: frozenset[LogicalTypeFamily]

    CHAR = ("CHAR", _F.PREDEFINED, _F.CHARACTER_STRING)
    VARCHAR = ("VARCHAR", _F.PREDEFINED, _F.CHARACTER_STRING)
    BOOLEAN = ("BOOLEAN", _F.PREDEFINED)
    BINARY = ("BINARY", _F.PREDEFINED, _F.BINARY_STRING)
    VARBINARY = ("VARBINARY", _F.PREDEFINED, _F.BINARY_STRING)
    DECIMAL = ("DECIMAL", _F.PREDEFINED, _F.NUMERIC, _F.EXACT_NUMERIC)
    TINYINT = ("TINYINT", *_INTEGER)
    SMALLINT = ("SMALLINT", *_INTEGER)
    INTEGER = ("INTEGER", *_INTEGER)
    BIGINT = ("BIGINT", *_INTEGER)
    FLOAT = ("FLOAT", *_APPROXIMATE)
    DOUBLE = ("DOUBLE", *_APPROXIMATE)
    DATE = ("DATE", _F.PREDEFINED, _F.DATETIME)
    TIME_WITHOUT_TIME_ZONE = ("TIME_WITHOUT_TIME_ZONE", _F.PREDEFINED, _F.DATETIME, _F.TIME)
    TIMESTAMP_WITHOUT_TIME_ZONE = ("TIMESTAMP_WITHOUT_TIME_ZONE", *_TIMESTAMP)
    TIMESTAMP_WITH_TIME_ZONE = ("TIMESTAMP_WITH_TIME_ZONE", *_TIMESTAMP)
    TIMESTAMP_WITH_LOCAL_TIME_ZONE = ("TIMESTAMP_WITH_LOCAL_TIME_ZONE", *_TIMESTAMP, _F.EXTENSION)
    INTERVAL_YEAR_MONTH = ("INTERVAL_YEAR_MONTH", _F.PREDEFINED, _F.INTERVAL)
    INTERVAL_DAY_TIME = ("INTERVAL_DAY_TIME", _F.PREDEFINED, _F.INTERVAL)
    ARRAY = ("ARRAY", _F.CONSTRUCTED, _F.COLLECTION)
    MULTISET = ("MULTISET", _F.CONSTRUCTED, _F.COLLECTION)
    MAP = ("MAP", _F.CONSTRUCTED, _F.EXTENSION)
    ROW = ("ROW", _F.CONSTRUCTED)
    DISTINCT_TYPE = ("DISTINCT_TYPE", _F.USER_DEFINED)
    STRUCTURED_TYPE = ("STRUCTURED_TYPE", _F.USER_DEFINED)
    NULL = ("NULL", _F.EXTENSION)
    RAW = ("RAW", _F.EXTENSION)
    SYMBOL = ("SYMBOL", _F.EXTENSION)
    UNRESOLVED = ("UNRESOLVED", _F.EXTENSION)
    DESCRIPTOR = ("DESCRIPTOR", _F.DESCRIPTOR)
    VARIANT = ("VARIANT", _F.EXTENSION)
    BITMAP = ("BITMAP", _F.EXTENSION)

    def __new__(cls, name: str, *families: LogicalTypeFamily) -> LogicalTypeRoot:
        root = object.__new__(cls)
        root._value_ = name
        root.families = frozenset(families)
        return root


def roots_of(*families: LogicalTypeFamily) -> frozenset[LogicalTypeRoot]:
    """Return the roots that belong to at least one of the given families.

    >>> sorted(root.name for root in roots_of(LogicalTypeFamily.INTERVAL))
    ['INTERVAL_DAY_TIME', 'INTERVAL_YEAR_MONTH']
    """
    return frozenset(root for root in LogicalTypeRoot if not root.families.isdisjoint(families))
