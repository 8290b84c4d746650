"""What `print()` shows. Expectations were printed by PyFlink 2.3 on Java 17, except where a test says why not."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from firesteel.common import Instant, Row, RowKind, TypeInformation, Types
from firesteel.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo
from firesteel.common.typeinfo.java_text import double_text, float32, float_text

T = Types
LOCAL = LocalTimeTypeInfo.TimeType

PRINTED: list[tuple[TypeInformation, Any, str]] = [
    (T.STRING(), "ä", "ä"),
    (T.BYTE(), -128, "-128"),
    (T.LONG(), 2**63 - 1, "9223372036854775807"),
    (T.BOOLEAN(), True, "true"),
    (T.BIG_DEC(), Decimal("1.50"), "1.50"),
    (T.BIG_DEC(), Decimal("1E+10"), "1E+10"),
    (T.BIG_DEC(), Decimal("1E-10"), "1E-10"),
    (T.INSTANT(), Instant.of_epoch_milli(1500), "1970-01-01T00:00:01.500Z"),
    (T.INSTANT(), Instant.of_epoch_milli(0), "1970-01-01T00:00:00Z"),
    (T.INSTANT(), Instant.of_epoch_milli(-1), "1969-12-31T23:59:59.999Z"),
    (T.SQL_DATE(), dt.date(2020, 1, 1), "2020-01-01"),
    (T.SQL_TIME(), dt.time(1, 2, 3, 456789), "01:02:03"),
    (T.SQL_TIMESTAMP(), dt.datetime(2020, 1, 1), "2020-01-01 00:00:00.0"),
    (T.SQL_TIMESTAMP(), dt.datetime(2020, 1, 1, 2, 3, 4, 500000), "2020-01-01 02:03:04.5"),
    (T.SQL_TIMESTAMP(), dt.datetime(2020, 1, 1, 2, 3, 4, 123456), "2020-01-01 02:03:04.123"),
    (LocalTimeTypeInfo(LOCAL.LOCAL_DATE), dt.date(2020, 1, 1), "2020-01-01"),
    (LocalTimeTypeInfo(LOCAL.LOCAL_TIME), dt.time(1, 2, 3, 500000), "01:02:03.500"),
    (LocalTimeTypeInfo(LOCAL.LOCAL_DATE_TIME), dt.datetime(2020, 1, 1, 1, 2), "2020-01-01T01:02"),
    (T.TUPLE([T.STRING(), T.LONG()]), ("a", 1), "(a,1)"),
    (T.TUPLE([T.STRING(), T.LONG()]), (None, 1), "(null,1)"),
    (
        T.TUPLE([T.BOOLEAN(), T.FLOAT(), T.DOUBLE(), T.SQL_DATE(), T.BIG_DEC()]),
        (True, 0.1, 0.1, dt.date(2020, 1, 1), Decimal("1.5")),
        "(true,0.1,0.1,2020-01-01,1.5)",
    ),
    (
        T.TUPLE([T.TUPLE([T.INT(), T.STRING()]), T.ROW([T.INT(), T.STRING()])]),
        ((1, "a"), Row(2, "b")),
        "((1,a),+I[2, b])",
    ),
    (T.TUPLE([T.ROW([T.INT(), T.STRING()])]), (Row(None, "x"),), "(+I[null, x])"),
    (T.TUPLE([T.ROW([T.INT()])]), (Row.of_kind(RowKind.DELETE, 1),), "(-D[1])"),
    (T.LIST(T.INT()), [1, 2], "[1, 2]"),
    (T.LIST(T.INT()), [], "[]"),
    (T.MAP(T.STRING(), T.INT()), {"a": 1, "b": 2}, "{a=1, b=2}"),
    (T.MAP(T.STRING(), T.LIST(T.DOUBLE())), {"a": [1.0]}, "{a=[1.0]}"),
    (T.MAP(T.STRING(), T.TUPLE([T.INT(), T.STRING()])), {"a": (1, "b")}, "{a=(1,b)}"),
    (T.TUPLE([T.PRIMITIVE_ARRAY(T.INT())]), ([1, 2],), "([1, 2])"),
    (T.TUPLE([T.BASIC_ARRAY(T.STRING())]), (["a", None],), "([a, null])"),
    (T.TUPLE([T.PRIMITIVE_ARRAY(T.BYTE())]), (b"ab\xff",), "([97, 98, -1])"),
    (
        T.TUPLE(
            [
                T.ROW(
                    [
                        T.LIST(T.INT()),
                        T.MAP(T.STRING(), T.DOUBLE()),
                        T.PRIMITIVE_ARRAY(T.INT()),
                        T.BASIC_ARRAY(T.STRING()),
                        T.PRIMITIVE_ARRAY(T.BYTE()),
                    ]
                )
            ]
        ),
        (Row([1, 2], {"a": 1.5}, [1, 2], ["q"], b"ab"),),
        "(+I[[1, 2], {a=1.5}, [1, 2], [q], [97, 98]])",
    ),
    (T.PICKLED_BYTE_ARRAY(), (1, "a", 1.5), "(1, 'a', 1.5)"),
    (T.PICKLED_BYTE_ARRAY(), Row(1, "a"), "<Row(1, 'a')>"),
    (T.PICKLED_BYTE_ARRAY(), None, "None"),
]


@pytest.mark.parametrize(("info", "value", "expected"), PRINTED, ids=repr)
def test_prints_as_flink_does(info: TypeInformation, value: Any, expected: str) -> None:
    assert info.to_string(info.coerce(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (1e10, "1.0E10"),
        (1e-5, "1.0E-5"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (-0.0, "-0.0"),
        (1e300, "1.0E300"),
        (5e-324, "4.9E-324"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (12345678.9, "1.23456789E7"),
        (-12345678.9, "-1.23456789E7"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (123456.789, "123456.789"),
        (1e15, "1.0E15"),
    ],
)
def test_doubles(value: float, expected: str) -> None:
    assert double_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (1e10, "1.0E10"),
        (1e-5, "1.0E-5"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (-0.0, "-0.0"),
        (3.4e38, "3.4E38"),
        (1e-45, "1.4E-45"),
        (16777216.0, "1.6777216E7"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (3.14159265, "3.1415927"),
        (2.5e-3, "0.0025"),
    ],
)
def test_floats(value: float, expected: str) -> None:
    assert float_text(float32(value)) == expected


def test_floating_point_prints_no_needless_digits() -> None:
    # Java 17 prints 1.9999999999999998E23 and 1.23456792E8; from Java 19 on it prints the shortest digits.
    assert double_text(2e23) == "2.0E23"
    assert float_text(float32(123456789.0)) == "1.2345679E8"


def test_a_stream_of_rows_prints_in_pythons_notation() -> None:
    info = T.ROW([T.LIST(T.INT()), T.FLOAT(), T.DOUBLE(), T.BOOLEAN(), T.ROW([T.INT()]), T.STRING()])
    row = info.coerce(Row([1], 0.1, 1e10, True, Row(1), None))
    assert info.to_print_string(row) == "+I[[1],0.10000000149011612,10000000000.0,True,Row(f0=1),None]"
    assert info.to_string(row) == "+I[[1], 0.1, 1.0E10, true, +I[1], null]"
    assert ExternalTypeInfo(info).to_print_string(row) == info.to_print_string(row)
    assert T.TUPLE([info]).to_print_string((row,)) == "(+I[[1], 0.1, 1.0E10, true, +I[1], null])"


def test_arrays_of_their_own_print_as_they_do_within_tuples() -> None:
    # Flink prints an array's identity, such as `[I@1b2c`, which says nothing.
    assert T.PRIMITIVE_ARRAY(T.INT()).to_string([1, 2]) == "[1, 2]"


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (T.INT(), "Integer"),
        (T.TUPLE([T.STRING(), T.LONG()]), "TupleTypeInfo(String, Long)"),
        (T.ROW([T.INT()]), "RowTypeInfo(Integer)"),
        (T.ROW_NAMED(["b", "a"], [T.INT(), T.STRING()]), "RowTypeInfo(b: Integer, a: String)"),
        (T.PRIMITIVE_ARRAY(T.INT()), "PrimitiveArrayTypeInfo<Integer>"),
        (T.BASIC_ARRAY(T.STRING()), "BasicArrayTypeInfo<String>"),
        (T.OBJECT_ARRAY(T.ROW([T.INT()])), "ObjectArrayTypeInfo<RowTypeInfo(Integer)>"),
        (T.LIST(T.INT()), "ListTypeInfo<Integer>"),
        (T.MAP(T.STRING(), T.INT()), "MapTypeInfo<String, Integer>"),
        (T.SQL_DATE(), "DateTypeInfo"),
        (T.SQL_TIME(), "TimeTypeInfo"),
        (T.SQL_TIMESTAMP(), "TimestampTypeInfo"),
        (T.PICKLED_BYTE_ARRAY(), "PickledByteArrayTypeInfo"),
        (T.INSTANT(), "Instant"),
        (LocalTimeTypeInfo(LOCAL.LOCAL_DATE), "LocalTimeTypeInfo<LOCAL_DATE>"),
    ],
)
def test_types_show_as_in_pyflink(info: TypeInformation, expected: str) -> None:
    assert str(info) == expected
