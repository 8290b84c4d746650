"""The types of Hive's columns, which are texts, as Flink's, and back (Flink: HiveTypeUtil)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    Field,
    FloatType,
    IntType,
    LogicalType,
    MapType,
    RowType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)

_PLAIN: Final[Mapping[str, LogicalType]] = {
    "boolean": BooleanType(),
    "tinyint": TinyIntType(),
    "smallint": SmallIntType(),
    "int": IntType(),
    "bigint": BigIntType(),
    "float": FloatType(),
    "double": DoubleType(),
    "string": STRING,
    "binary": BYTES,
    "date": DateType(),
    "timestamp": TimestampType(9),
}
_SIZED: Final[Mapping[str, Callable[..., LogicalType]]] = {
    "decimal": lambda precision=10, scale=0: DecimalType(precision, scale),
    "varchar": VarCharType,
    "char": CharType,
}
_TEXTS: Final = {kind: text for text, kind in _PLAIN.items()}
_LONGEST: Final = {CharType: 255, VarCharType: 65535}
T = TypeVar("T")
_TOKEN: Final = re.compile(r"[<>:,()]|[^<>:,()\s][^<>:,()]*")


def type_of(text: str, who: str) -> LogicalType:
    """Return a type of Hive; `who` names the column. Raises UnsupportedError for one that Flink does not have.

    >>> str(type_of("map<string,array<struct<a:int,b:decimal(10,2)>>>", "c"))
    'MAP<STRING, ARRAY<ROW<`a` INT, `b` DECIMAL(10, 2)>>>'
    """
    return _Reader(text, who).read()


class _Reader:
    """Reads one type, token by token."""

    def __init__(self, text: str, who: str) -> None:
        self._text = text
        self._who = who
        self._tokens = _TOKEN.findall(text)

    def read(self) -> LogicalType:
        name = self._tokens.pop(0).lower()
        if name in _PLAIN:
            return _PLAIN[name]
        if name in _SIZED:
            return _SIZED[name](*map(int, self._listed("(", ")", lambda: self._tokens.pop(0))))
        if name == "array":
            return ArrayType(*self._listed("<", ">", self.read))
        if name == "map":
            return MapType(*self._listed("<", ">", self.read))
        if name == "struct":
            return RowType(tuple(self._listed("<", ">", self._field)))
        raise UnsupportedError(
            f"cannot have Hive's type {self._text!r}",
            who=self._who,
            hint="read the table by 'connector' = 'spark', with the columns that you need",
        )

    def _field(self) -> Field:
        name = self._tokens.pop(0)
        self._tokens.pop(0)
        return Field(name, self.read())

    def _listed(self, begin: str, end: str, one: Callable[[], T]) -> list[T]:
        found: list[T] = []
        if self._tokens[:1] != [begin]:
            return found
        while self._tokens.pop(0) != end:
            found.append(one())
        return found


def text_of(kind: LogicalType, who: str) -> str:
    """Return a type as Hive has it; `who` names the column. Raises UnsupportedError for one that Hive does not have.

    >>> text_of(RowType.of({"a": ArrayType(DecimalType(10, 2)), "b": TimestampType(9)}), "c")
    'struct<a:array<decimal(10,2)>,b:timestamp>'
    """
    plain = _TEXTS.get(kind.copy(nullable=True))
    if plain is not None:
        return plain
    match kind:
        case DecimalType():
            return f"decimal({kind.precision},{kind.scale})"
        case CharType() | VarCharType() if kind.length <= _LONGEST[type(kind)]:
            return f"{'char' if isinstance(kind, CharType) else 'varchar'}({kind.length})"
        case ArrayType():
            return f"array<{text_of(kind.element, who)}>"
        case MapType():
            return f"map<{text_of(kind.key, who)},{text_of(kind.value, who)}>"
        case RowType():
            return f"struct<{','.join(f'{name}:{text_of(part, who)}' for name, part, _ in kind.fields)}>"
    raise UnsupportedError(
        "cannot have this type in a table of Hive",
        who=who,
        got=str(kind),
        hint="TIMESTAMP(9) is Hive's timestamp"
        if isinstance(kind, TimestampType)
        else "STRING holds it as text",
    )
