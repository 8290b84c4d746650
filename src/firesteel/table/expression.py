"""Expression: a value of each row, of a group or of a window (Flink: org.apache.flink.table.expressions).

>>> from firesteel.table.expressions import col
>>> print((col("price") * 2 > 10) & col("name").upper_case.like("A%"))
and(greaterThan(times(price, 2), 10), LIKE(upper(name), 'A%'))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.expressing.aggregates import Aggregates
from firesteel.table.expressing.collections import Collections
from firesteel.table.expressing.conditions import Comparisons
from firesteel.table.expressing.documents import Documents
from firesteel.table.expressing.numbers import Arithmetic
from firesteel.table.expressing.texts import Texts
from firesteel.table.expressing.times import Times
from firesteel.table.expressing.tree import Rows
from firesteel.table.expressing.words import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from firesteel.table.types import DataType

if TYPE_CHECKING:
    from firesteel.table.table import Table

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]

T = TypeVar("T")


class Expression(Arithmetic, Comparisons, Aggregates, Texts, Times, Collections, Documents, Generic[T]):
    """A value that a table computes; operators and methods make further expressions of it.

    ``a.b`` is the field `b` of the row `a`. An expression is no truth value: write ``&``, ``|`` and ``~``.
    """

    __hash__ = None  # type: ignore[assignment]  # == makes an expression

    def __eq__(self, other: object) -> Expression[bool]:  # type: ignore[override]
        """Return whether the value equals another."""
        return self._call("equals", other)

    def __ne__(self, other: object) -> Expression[bool]:  # type: ignore[override]
        """Return whether the value differs from another."""
        return self._call("notEquals", other)

    def __bool__(self) -> bool:
        raise ProgramError(
            "is no truth value of the program: tables compute it for each row",
            who=f"the expression {self}",
            hint="write & for and, | for or, ~ for not",
        )

    def __str__(self) -> str:
        return str(self._tree)

    def __getattr__(self, name: str) -> Expression[Any]:
        if name.startswith("_"):
            raise AttributeError(f"'Expression' object has no attribute {name!r}")
        return self.get(name)

    def alias(self, name: str, *extra_names: str) -> Expression[T]:
        """Return the value under a name; one that has several columns has a name for each."""
        return self._call("as", name, *extra_names)

    def as_argument(self, name: str) -> Expression[Any]:
        """Return the value as the argument of a name, of a function that takes arguments by name."""
        return self._after("ASSIGNMENT", name)

    def cast(self, data_type: DataType) -> Expression[Any]:
        """Return the value as one of another type; the job fails for one that cannot be."""
        return self._call("cast", _type(data_type, "cast"))

    def try_cast(self, data_type: DataType) -> Expression[Any]:
        """Return the value as one of another type, NULL for one that cannot be."""
        return self._call("TRY_CAST", _type(data_type, "try_cast"))

    @property
    def asc(self) -> Expression[Any]:
        """Return the value as one to sort by, from the least on."""
        return self._call("asc")

    @property
    def desc(self) -> Expression[Any]:
        """Return the value as one to sort by, from the greatest on."""
        return self._call("desc")

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Expression[bool]:
        """Return whether the value is among others: constants and expressions, or the rows of a table."""
        plan = getattr(first_element_or_table, "_plan", None)
        if plan is None:
            return self._call("in", first_element_or_table, *remaining_elements)
        table = cast("Table", first_element_or_table)
        return self._call("in", Expression(Rows(plan, str(table))))


def _type(data_type: DataType, method: str) -> DataType:
    if isinstance(data_type, DataType):
        return data_type
    raise ProgramError(
        "requires a data type", who=call_site(method), got=repr(data_type), hint="e.g. DataTypes.INT()"
    )
