"""What comes back from a declared type. Expectations are what PyFlink 2.3's coders gave for the same values."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from firesteel.common import Instant, Row, RowKind, TypeInformation, Types
from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.typeinfo import LocalTimeTypeInfo

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
NAMED = Types.ROW_NAMED(["x", "y"], [Types.STRING(), Types.INT()])
PLUS_TWO = dt.timezone(dt.timedelta(hours=2))
LOCAL = LocalTimeTypeInfo.TimeType


class Text(str):
    __slots__ = ()


class Point(NamedTuple):
    name: str
    size: int


class Thing:
    def __init__(self) -> None:
        self.x = "a"
        self.y = 1

    def __repr__(self) -> str:
        return "Thing"


COERCED: list[tuple[TypeInformation, Any, Any]] = [
    (Types.INT(), 1, 1),
    (Types.INT(), True, 1),
    (Types.INT(), 1.5, 1),
    (Types.INT(), -1.5, -1),
    (Types.INT(), Decimal("2.5"), 2),
    (Types.INT(), 2**31 - 1, 2**31 - 1),
    (Types.BYTE(), -128, -128),
    (Types.SHORT(), 32767, 32767),
    (Types.LONG(), -(2**63), -(2**63)),
    (Types.FLOAT(), 0.1, 0.10000000149011612),
    (Types.FLOAT(), 1, 1.0),
    (Types.FLOAT(), 3.5e38, math.inf),
    (Types.FLOAT(), -1e300, -math.inf),
    (Types.DOUBLE(), 1, 1.0),
    (Types.DOUBLE(), True, 1.0),
    (Types.DOUBLE(), Decimal("2.5"), 2.5),
    (Types.DOUBLE(), 2**53 + 1, 9007199254740992.0),
    (Types.BOOLEAN(), 1, True),
    (Types.BOOLEAN(), 2, True),
    (Types.BOOLEAN(), 0.5, False),
    (Types.STRING(), Text("b"), "b"),
    (Types.STRING(), None, None),
    (Types.CHAR(), "a", "a"),
    (Types.BIG_INT(), 2**100, 2**100),
    (Types.BIG_INT(), None, None),
    (Types.BIG_DEC(), 1, Decimal(1)),
    (Types.BIG_DEC(), 1.5, Decimal("1.5")),
    (Types.BIG_DEC(), "2.5", Decimal("2.5")),
    (Types.INSTANT(), Instant(1, 2), Instant(1, 2)),
    (Types.SQL_DATE(), dt.datetime(2020, 1, 1, 5), dt.date(2020, 1, 1)),
    (Types.SQL_TIME(), dt.time(1, 2, 3, 456789), dt.time(1, 2, 3, 456000)),
    (Types.SQL_TIME(), dt.time(1, 2, tzinfo=PLUS_TWO), dt.time(1, 2)),
    (
        Types.SQL_TIMESTAMP(),
        dt.datetime(2020, 1, 1, 1, 2, 3, 456789),
        dt.datetime(2020, 1, 1, 1, 2, 3, 456000),
    ),
    (Types.SQL_TIMESTAMP(), dt.datetime(2020, 1, 1, tzinfo=PLUS_TWO), dt.datetime(2020, 1, 1)),
    (LocalTimeTypeInfo(LOCAL.LOCAL_TIME), dt.time(1, 2, 3, 456789), dt.time(1, 2, 3, 456789)),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [1.5], [1]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), bytearray(b"x"), b"x"),
    (Types.LIST(Types.BYTE()), b"ab", b"ab"),
    (Types.BASIC_ARRAY(Types.INT()), [1, None], [1, None]),
    (Types.OBJECT_ARRAY(PAIR), [("a", True), None], [("a", 1), None]),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": 1.0, "b": None}, {"a": 1, "b": None}),
    (PAIR, ("a", 1), ("a", 1)),
    (PAIR, ("a", 1, 2), ("a", 1)),
    (PAIR, ["a", 1], ("a", 1)),
    (PAIR, Row("a", 1), ("a", 1)),
    (PAIR, Point("a", 1), ("a", 1)),
    (Types.TUPLE([]), (), ()),
    (NAMED, Row("a", 1), Row(x="a", y=1)),
    (NAMED, Row(y=1, x="a"), Row(x="a", y=1)),
    (NAMED, Row(x="a", y=1, z=3), Row(x="a", y=1)),
    (NAMED, Row("a", 1, 2), Row(x="a", y=1)),
    (NAMED, Row(None, None), Row(x=None, y=None)),
    (NAMED, ("a", 1), Row(x="a", y=1)),
    (NAMED, {"x": "a"}, Row(x="a", y=None)),
    (NAMED, Thing(), Row(x="a", y=1)),
    (NAMED, Row.of_kind(RowKind.DELETE, "a", 1), Row.of_kind(RowKind.DELETE, x="a", y=1)),
    (Types.ROW([Types.INT()]), Row(1), Row(f0=1)),
    (Types.ROW([Types.INT(), Types.INT()]), Row(a=1, b=2), Row(f0=1, f1=2)),
    (Types.ROW([]), Row(), Types.ROW([]).coerce(())),
]


@pytest.mark.parametrize(("info", "value", "expected"), COERCED, ids=repr)
def test_coerces_as_flink_does(info: TypeInformation, value: Any, expected: Any) -> None:
    coerced = info.coerce(value)
    assert coerced == expected
    assert type(coerced) is type(expected)
    assert info.coerce(coerced) == expected


MISMATCHED: list[tuple[TypeInformation, Any, str]] = [
    (Types.INT(), "5", "requires an INT; got str: '5'"),
    (Types.INT(), b"1", "requires an INT; got bytes: b'1'"),
    (Types.INT(), None, "requires an INT; got NoneType: None"),
    (Types.INT(), math.nan, "requires an INT; got float: nan"),
    (Types.INT(), math.inf, "requires an INT; got float: inf"),
    (Types.INT(), 2**31, "requires an INT between -2147483648 and 2147483647; got int: 2147483648"),
    (Types.BYTE(), 128, "requires a BYTE between -128 and 127; got int: 128"),
    (Types.SHORT(), -32769, "requires a SHORT between -32768 and 32767; got int: -32769"),
    (Types.LONG(), 2**63, "requires a LONG between"),
    (Types.DOUBLE(), "5", "requires a floating-point number; got str: '5'"),
    (Types.DOUBLE(), None, "requires a floating-point number; got NoneType: None"),
    (Types.DOUBLE(), 10**400, "requires a floating-point number; got int: "),
    (Types.BOOLEAN(), "x", "requires a BOOLEAN; got str: 'x'"),
    (Types.BOOLEAN(), 256, "requires a BOOLEAN; got int: 256"),
    (Types.BOOLEAN(), -1, "requires a BOOLEAN; got int: -1"),
    (Types.STRING(), 1, "requires a STRING; got int: 1"),
    (Types.STRING(), b"x", "requires a STRING; got bytes: b'x'"),
    (Types.CHAR(), "ab", "requires a CHAR, a text of one character; got str: 'ab'"),
    (Types.BIG_DEC(), "x", "requires a BIG_DEC; got str: 'x'"),
    (Types.BIG_DEC(), True, "requires a BIG_DEC; got bool: True"),
    (Types.INSTANT(), 5, "requires an INSTANT, a firesteel.common.Instant; got int: 5"),
    (Types.SQL_DATE(), "2020-01-01", "requires a datetime.date; got str: '2020-01-01'"),
    (Types.SQL_TIME(), 5, "requires a datetime.time; got int: 5"),
    (Types.SQL_TIMESTAMP(), dt.date(2020, 1, 1), "requires a datetime.datetime; got date: "),
    (Types.LIST(Types.INT()), {1}, "requires a list; got set: {1}"),
    (Types.LIST(Types.INT()), [1, None], "requires an INT at value[1]; got NoneType: None"),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), [97], "requires bytes; got list: [97]"),
    (Types.MAP(Types.STRING(), Types.INT()), [("a", 1)], "requires a dict; got list: "),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": "b"}, "requires an INT at value['a']; got str: 'b'"),
    (Types.MAP(Types.STRING(), Types.INT()), {1: 1}, "requires a STRING at value key 1; got int: 1"),
    (PAIR, ("a",), "requires a tuple of 2 fields; got tuple: ('a',)"),
    (PAIR, ("a", None), "requires an INT at value[1]; got NoneType: None"),
    (PAIR, "ab", "requires a tuple of 2 fields; got str: 'ab'"),
    (NAMED, Row(x="a"), "requires a Row with the fields y; got Row: Row(x='a')"),
    (NAMED, Row("a"), "requires a Row of 2 fields; got Row: <Row('a')>"),
    (NAMED, ("a",), "requires a Row of 2 fields; got tuple: ('a',)"),
    (NAMED, None, "requires a Row of 2 fields; got NoneType: None"),
    (NAMED, 5, "requires a Row of 2 fields; got int: 5"),
    (
        Types.TUPLE([Types.STRING(), Types.ROW([Types.LIST(Types.INT())])]),
        ("a", Row([1, "x"])),
        "requires an INT at value[1].f0[1]; got str: 'x'",
    ),
]


@pytest.mark.parametrize(("info", "value", "message"), MISMATCHED, ids=repr)
def test_names_the_place_the_type_and_the_value_of_a_mismatch(
    info: TypeInformation, value: Any, message: str
) -> None:
    with pytest.raises(TypeMismatchError) as caught:
        info.coerce(value)
    assert str(caught.value).startswith(f"type {info} {message}")


def test_conforming_immutable_values_are_returned_as_they_are() -> None:
    for info, value in [
        (PAIR, ("a", 1)),
        (Types.TUPLE([PAIR, Types.FLOAT()]), (("a", 1), 0.5)),
        (Types.PICKLED_BYTE_ARRAY(), ("a", 1)),
        (Types.SQL_DATE(), dt.date(2020, 1, 1)),
    ]:
        assert info.coerce(value) is value


def test_coerced_values_are_detached_from_the_original() -> None:
    info = Types.TUPLE(
        [
            Types.LIST(Types.INT()),
            Types.MAP(Types.STRING(), Types.INT()),
            Types.ROW([Types.INT()]),
            Types.PICKLED_BYTE_ARRAY(),
            Types.INSTANT(),
        ]
    )
    value = ([1], {"a": 1}, Row(1), [[1]], Instant(1, 0))
    coerced = info.coerce(value)
    value[0].append(2)
    value[1]["b"] = 2
    value[2][0] = 2
    value[3][0].append(2)
    value[4].seconds = 2
    assert coerced == ([1], {"a": 1}, Row(f0=1), [[1]], Instant(1, 0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Types.PRIMITIVE_ARRAY(Types.STRING()),
        lambda: Types.BASIC_ARRAY(Types.ROW([])),
        lambda: Types.TUPLE([int]),  # type: ignore[list-item]
        lambda: Types.LIST(str),  # type: ignore[arg-type]
        lambda: Types.ROW_NAMED(["a"], [Types.INT(), Types.INT()]),
        lambda: Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()]),
    ],
)
def test_types_check_what_they_are_made_of(make: Any) -> None:
    with pytest.raises(ProgramError):
        make()
