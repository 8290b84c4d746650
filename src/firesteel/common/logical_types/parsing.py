"""Types from text: `ROW<id BIGINT NOT NULL, tags ARRAY<STRING>>` (Flink: LogicalTypeParser).

It is the notation of `as_serializable_string`, with SQL's abbreviations and other spellings. Contract: what Flink reads
is read as the same type, and what Flink refuses raises ProgramError with the position. Not read: `LEGACY(...)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple, NoReturn

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types.constructed import ArrayType, Field, MapType, MultisetType, RowType
from firesteel.common.logical_types.intervals import DayTimeIntervalType, IntervalField, YearMonthIntervalType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import (
    BigIntType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    SmallIntType,
    TinyIntType,
)
from firesteel.common.logical_types.special import (
    BitmapType,
    DescriptorType,
    NullType,
    RawType,
    StructuredType,
    UnresolvedType,
    VariantType,
)
from firesteel.common.logical_types.strings import (
    BYTES,
    STRING,
    BinaryType,
    BooleanType,
    CharType,
    LengthType,
    VarBinaryType,
    VarCharType,
)
from firesteel.common.logical_types.temporal import (
    DateType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    ZonedTimestampType,
)


def parse_type(text: str) -> LogicalType:
    """Return the type that the text describes. Raises ProgramError if it describes none.

    >>> parse_type("row<a int not null, b timestamp_ltz(3)>").as_serializable_string()
    'ROW<`a` INT NOT NULL, `b` TIMESTAMP(3) WITH LOCAL TIME ZONE>'
    """
    return _Parser(text).whole()


class _Kind(Enum):
    SYMBOL = auto()
    TEXT = auto()
    NUMBER = auto()
    KEYWORD = auto()
    NAME = auto()


class _Token(NamedTuple):
    kind: _Kind
    value: str
    position: int


_KEYWORDS: Final = frozenset({
    "CHAR", "VARCHAR", "STRING", "BOOLEAN", "BINARY", "VARBINARY", "BYTES", "DECIMAL", "NUMERIC", "DEC",
    "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "PRECISION", "DATE", "TIME",
    "WITH", "WITHOUT", "LOCAL", "ZONE", "TIMESTAMP", "TIMESTAMP_LTZ", "INTERVAL", "YEAR", "MONTH",
    "DAY", "HOUR", "MINUTE", "SECOND", "TO", "ARRAY", "MULTISET", "MAP", "ROW", "NULL", "RAW", "LEGACY",
    "NOT", "DESCRIPTOR", "STRUCTURED", "VARIANT", "BITMAP",
})  # fmt: skip
# An unclosed quote ends with the text, as in Flink.
_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<symbol>[<>(),.])|'(?P<text>(?:[^']|'')*)(?:'|$)|`(?P<name>(?:[^`]|``)*)(?:`|$)"
    r"|(?P<number>[0-9]+)|(?P<word>[^\s<>(),.]+)"
)


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), match[str(match.lastgroup)]
        position = match.start()
        if kind == "symbol":
            tokens.append(_Token(_Kind.SYMBOL, value, position))
        elif kind == "text":
            tokens.append(_Token(_Kind.TEXT, value.replace("''", "'"), position))
        elif kind == "name":
            tokens.append(_Token(_Kind.NAME, value.replace("``", "`"), position))
        elif kind == "number":
            tokens.append(_Token(_Kind.NUMBER, value, position))
        elif kind == "word" and value.upper() in _KEYWORDS:
            tokens.append(_Token(_Kind.KEYWORD, value.upper(), position))
        elif kind == "word":
            tokens.append(_Token(_Kind.NAME, value, position))
    return tokens


_WITHOUT_PARAMETERS: Final[dict[str, LogicalType]] = {
    "STRING": STRING,
    "BYTES": BYTES,
    "BOOLEAN": BooleanType(),
    "TINYINT": TinyIntType(),
    "SMALLINT": SmallIntType(),
    "INT": IntType(),
    "INTEGER": IntType(),
    "BIGINT": BigIntType(),
    "FLOAT": FloatType(),
    "DATE": DateType(),
    "NULL": NullType(),
    "DESCRIPTOR": DescriptorType(),
    "VARIANT": VariantType(),
    "BITMAP": BitmapType(),
}
_WITH_LENGTH: Final[dict[str, Callable[[int], LengthType]]] = {
    "CHAR": CharType,
    "VARCHAR": VarCharType,
    "BINARY": BinaryType,
    "VARBINARY": VarBinaryType,
}


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self._forms: dict[str, Callable[[], LogicalType]] = {
            **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC"), self._decimal),
            "DOUBLE": self._double,
            "TIME": self._time,
            "TIMESTAMP": self._timestamp,
            "TIMESTAMP_LTZ": lambda: LocalZonedTimestampType(self._parameter(6)),
            "INTERVAL": self._interval,
            "ARRAY": lambda: ArrayType(self._in_angles()),
            "MULTISET": lambda: MultisetType(self._in_angles()),
            "MAP": self._map,
            "ROW": self._row,
            "STRUCTURED": self._structured,
            "RAW": self._raw,
        }

    def whole(self) -> LogicalType:
        data_type = self._type()
        if self._next < len(self._tokens):
            self._fail(f"unexpected {self._tokens[self._next].value!r}")
        return data_type

    def _fail(self, problem: str) -> NoReturn:
        position = self._tokens[self._next].position if self._next < len(self._tokens) else len(self._text)
        raise ProgramError(
            "requires the text of a type, such as ROW<id BIGINT NOT NULL, name STRING>",
            who=f"type {self._text!r}",
            got=f"{problem} at position {position}",
        )

    def _has(self, *values: str) -> bool:
        """Take the given symbols and keywords if all of them come next."""
        ahead = self._tokens[self._next : self._next + len(values)]
        found = [token.value for token in ahead if token.kind in (_Kind.SYMBOL, _Kind.KEYWORD)]
        if found != list(values):
            return False
        self._next += len(values)
        return True

    def _expect(self, *values: str) -> None:
        if not self._has(*values):
            self._fail(f"no {' '.join(values)}")

    def _take(self, kind: _Kind) -> str:
        if self._next == len(self._tokens) or self._tokens[self._next].kind is not kind:
            self._fail(f"no {kind.name.lower()}")
        self._next += 1
        return self._tokens[self._next - 1].value

    def _comes(self, kind: _Kind) -> bool:
        return self._next < len(self._tokens) and self._tokens[self._next].kind is kind

    def _type(self) -> LogicalType:
        data_type = self._nullability(self._named() if self._comes(_Kind.NAME) else self._predefined())
        if self._has("ARRAY"):
            return self._nullability(ArrayType(data_type))
        if self._has("MULTISET"):
            return self._nullability(MultisetType(data_type))
        return data_type

    def _nullability(self, data_type: LogicalType) -> LogicalType:
        if self._has("NOT", "NULL"):
            return data_type.copy(nullable=False)
        self._has("NULL")
        return data_type.copy(nullable=True)

    def _named(self) -> LogicalType:
        parts = [self._take(_Kind.NAME)]
        while len(parts) < 3 and self._has("."):
            parts.append(self._take(_Kind.NAME))
        return UnresolvedType(tuple(parts))

    def _predefined(self) -> LogicalType:
        keyword = self._take(_Kind.KEYWORD)
        if keyword in _WITHOUT_PARAMETERS:
            return _WITHOUT_PARAMETERS[keyword]
        if keyword in _WITH_LENGTH:
            return self._with_length(_WITH_LENGTH[keyword])
        if keyword not in self._forms:
            self._next -= 1
            self._fail(f"{keyword}, which is no type,")
        return self._forms[keyword]()

    def _with_length(self, make: Callable[[int], LengthType]) -> LogicalType:
        data_type = make(self._parameter(1))
        if not data_type.length:  # only literals have this length, and they are not written
            self._fail("the length 0")
        return data_type

    def _parameter(self, default: int) -> int:
        if not self._has("("):
            return default
        number = int(self._take(_Kind.NUMBER))
        self._expect(")")
        return number

    def _decimal(self) -> LogicalType:
        if not self._has("("):
            return DecimalType()
        precision = int(self._take(_Kind.NUMBER))
        scale = int(self._take(_Kind.NUMBER)) if self._has(",") else 0
        self._expect(")")
        return DecimalType(precision, scale)

    def _double(self) -> LogicalType:
        self._has("PRECISION")
        return DoubleType()

    def _time(self) -> LogicalType:
        precision = self._parameter(0)
        if self._has("WITHOUT"):
            self._expect("TIME", "ZONE")
        return TimeType(precision)

    def _timestamp(self) -> LogicalType:
        precision = self._parameter(6)
        if self._has("WITHOUT"):
            self._expect("TIME", "ZONE")
        elif self._has("WITH"):
            local = self._has("LOCAL")
            self._expect("TIME", "ZONE")
            return LocalZonedTimestampType(precision) if local else ZonedTimestampType(precision)
        return TimestampType(precision)

    def _interval(self) -> LogicalType:
        start, first = self._unit()
        end, last = start, first
        if self._has("TO"):
            end, last = self._unit()
            if end.value <= start.value:
                self._fail(f"{end.name} after {start.name}")
        if start.value <= IntervalField.MONTH.value:
            if last is not None and end is not start:
                self._fail("a precision of months")
            return YearMonthIntervalType(start, end, 2 if first is None else first)
        days = first if start is IntervalField.DAY else None
        fraction = last if end is IntervalField.SECOND else None
        return DayTimeIntervalType(
            start, end, 2 if days is None else days, 6 if fraction is None else fraction
        )

    def _unit(self) -> tuple[IntervalField, int | None]:
        keyword = self._take(_Kind.KEYWORD)
        if keyword not in IntervalField.__members__:
            self._next -= 1
            self._fail(f"{keyword}, which is no unit of time,")
        unit = IntervalField[keyword]
        if unit not in (IntervalField.YEAR, IntervalField.DAY, IntervalField.SECOND):
            return unit, None
        precision = self._parameter(-1)
        return unit, None if precision < 0 else precision

    def _in_angles(self) -> LogicalType:
        self._expect("<")
        data_type = self._type()
        self._expect(">")
        return data_type

    def _map(self) -> LogicalType:
        self._expect("<")
        key = self._type()
        self._expect(",")
        value = self._type()
        self._expect(">")
        return MapType(key, value)

    def _row(self) -> LogicalType:
        if self._has("("):
            return RowType(self._fields(")"))
        self._expect("<")
        return RowType(self._fields(">"))

    def _fields(self, end: str) -> tuple[Field, ...]:
        fields: list[Field] = []
        while not self._has(end):
            if fields:
                self._expect(",")
            name = self._take(_Kind.NAME)
            data_type = self._type()
            fields.append(Field(name, data_type, self._take(_Kind.TEXT) if self._comes(_Kind.TEXT) else None))
        return tuple(fields)

    def _structured(self) -> LogicalType:
        self._expect("<")
        class_name = self._take(_Kind.TEXT)
        if self._has(","):
            return StructuredType(self._fields(">"), class_name)
        self._expect(">")
        return StructuredType((), class_name)

    def _raw(self) -> LogicalType:
        self._expect("(")
        class_name = self._take(_Kind.TEXT)
        self._expect(",")
        snapshot = self._take(_Kind.TEXT)
        self._expect(")")
        return RawType(class_name, snapshot)
