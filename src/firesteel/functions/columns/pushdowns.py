"""What a plan asks of sources besides columns: the partitions that it reads, and rows that they may leave out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import pyarrow as pa

Partition = Mapping[str, str | None]
"""The value of each partition column as it is written; None is NULL."""

Operator = Literal["=", "<>", "<", "<=", ">", ">="]


class PartitionChoice(Protocol):
    """Says which partitions are read; picklable."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the partition columns that it looks at."""

    def __call__(self, values: pa.RecordBatch) -> list[bool]:
        """Return whether each partition is read; `values` are those of `columns`, a row for each partition."""


@dataclass(frozen=True)
class Comparison:
    """A column compared with a value that is not NULL."""

    column: str
    operator: Operator
    value: object


@dataclass(frozen=True)
class NullTest:
    """Whether a column is NULL, or with `negated` that it is not."""

    column: str
    negated: bool = False


@dataclass(frozen=True)
class Like:
    """A column of text that has the form of a pattern with % and _, and without an escape."""

    column: str
    pattern: str

    @property
    def prefix(self) -> str:
        """Return what the text begins with.

        >>> Like("name", "ab%c_").prefix
        'ab'
        """
        return re.split("[%_]", self.pattern, maxsplit=1)[0]


@dataclass(frozen=True)
class Junction:
    """Conditions joined with AND, or with OR if `any_of`."""

    parts: tuple[Condition, ...]
    any_of: bool = False


Condition = Comparison | NullTest | Like | Junction


class Extent(NamedTuple):
    """What is known of a column of some rows (None: it is not known).

    The bounds of its values, how many are NULL, and about how many different ones there are.
    """

    rows: int
    low: object | None = None
    high: object | None = None
    nulls: int | None = None
    distinct: int | None = None


def may_hold(condition: Condition, extent: Callable[[str], Extent | None]) -> bool:
    """Return whether a condition can be TRUE for any of some rows; `extent` says what is known of a column.

    Values of another type than the bounds have are not compared: then it can.

    >>> rows = {"n": Extent(100, 1, 9, nulls=0)}
    >>> may_hold(Comparison("n", ">", 9), rows.get), may_hold(NullTest("n"), rows.get)
    (False, False)
    >>> may_hold(Comparison("n", "=", 9), rows.get), may_hold(Comparison("m", "=", 10), rows.get)
    (True, True)
    """
    if isinstance(condition, Junction):
        parts = (may_hold(part, extent) for part in condition.parts)
        return any(parts) if condition.any_of else all(parts)
    known = extent(condition.column)
    if known is None:
        return True
    if isinstance(condition, NullTest):
        return known.nulls is None or (known.nulls < known.rows if condition.negated else known.nulls > 0)
    if known.nulls == known.rows:
        return False
    if isinstance(condition, Like):
        return _may_begin(condition.prefix, known.low, known.high)
    return _may_compare(condition, known.low, known.high)


def _may_begin(prefix: str, low: object, high: object) -> bool:
    if not (isinstance(low, str) and isinstance(high, str)):
        return True
    return low[: len(prefix)] <= prefix <= high


def _may_compare(comparison: Comparison, low: object, high: object) -> bool:
    value, operator = comparison.value, comparison.operator
    if not (_comparable(low, value) and _comparable(high, value)):
        return True
    if operator == "<>":
        # Bounds of texts may be shortened ones, and those of floating point numbers do not speak of NaN.
        return isinstance(value, str | float) or not low == value == high
    holds: Mapping[Operator, Callable[[], bool]] = {
        "=": lambda: low <= value <= high,  # type: ignore[operator]
        "<": lambda: low < value,  # type: ignore[operator]
        "<=": lambda: low <= value,  # type: ignore[operator]
        ">": lambda: high > value,  # type: ignore[operator]
        ">=": lambda: high >= value,  # type: ignore[operator]
    }
    return holds[operator]()


def _comparable(bound: object, value: object) -> bool:
    zoned = getattr(bound, "tzinfo", None) is not None or getattr(value, "tzinfo", None) is not None
    return type(bound) is type(value) and bound == bound and not zoned
