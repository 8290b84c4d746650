"""Types, casts, common types and results of arithmetic are real Flink's, for all pairs of many types.

`flink/types.json` holds Flink's answers; `flink/ask_types.py` asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import (
    BigIntType,
    BinaryType,
    CharType,
    DayTimeIntervalType,
    DecimalType,
    DistinctType,
    DoubleType,
    Field,
    IntervalField,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    ObjectIdentifier,
    StructuredType,
    SymbolType,
    TimestampKind,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
    parse_type,
)
from firesteel.common.logical_types.casts import (
    supports_avoiding_cast,
    supports_explicit_cast,
    supports_implicit_cast,
)
from firesteel.common.logical_types.decimals import (
    average_type,
    divide_type,
    modulo_type,
    plus_type,
    round_type,
    sum_type,
    times_type,
)
from firesteel.common.logical_types.merging import find_common_type

ANSWERS: dict[str, Any] = json.loads((Path(__file__).parent / "flink" / "types.json").read_text("utf-8"))
SPECIAL: dict[str, LogicalType] = {
    "CHAR(0)": CharType(0, nullable=False),
    "VARCHAR(0)": VarCharType(0, nullable=False),
    "BINARY(0)": BinaryType(0, nullable=False),
    "TIMESTAMP(3) *ROWTIME*": TimestampType(3, TimestampKind.ROWTIME),
    "TIMESTAMP(3) NOT NULL *ROWTIME*": TimestampType(3, TimestampKind.ROWTIME, nullable=False),
    "TIMESTAMP_LTZ(3) *ROWTIME*": LocalZonedTimestampType(3, TimestampKind.ROWTIME),
    "TIMESTAMP_LTZ(3) *PROCTIME*": LocalZonedTimestampType(3, TimestampKind.PROCTIME),
    "TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*": LocalZonedTimestampType(3, TimestampKind.PROCTIME, nullable=False),
    "SYMBOL": SymbolType(),
    "DISTINCT Money": DistinctType(ObjectIdentifier("cat", "db", "Money"), DecimalType(10, 2)),
    "DISTINCT Weight": DistinctType(ObjectIdentifier("cat", "db", "Weight"), DoubleType()),
    "REGISTERED Point": StructuredType(
        (Field("x", IntType()), Field("y", IntType())), identifier=ObjectIdentifier("cat", "db", "Point")
    ),
}  # fmt: skip


def made(name: str) -> LogicalType:
    """The type of that name; of RAW Flink's own text is read."""
    if name.startswith("RAW "):
        return parse_type(ANSWERS["types"][name][0])
    return SPECIAL[name] if name in SPECIAL else parse_type(name)


NAMES = list(ANSWERS["types"])
TYPES = [made(name) for name in NAMES]
PAIRS = ANSWERS["pairs"]


def texts(data_type: LogicalType) -> list[str | None]:
    try:
        return [data_type.as_serializable_string(), data_type.as_summary_string()]
    except ProgramError:
        return [None, data_type.as_summary_string()]


@pytest.mark.parametrize("name", NAMES)
def test_a_type_has_flinks_texts(name: str) -> None:
    assert texts(made(name)) == ANSWERS["types"][name]


@pytest.mark.parametrize("text", ANSWERS["spellings"])
def test_a_text_is_read_as_flink_reads_it(text: str) -> None:
    answer = ANSWERS["spellings"][text]
    if answer is None:
        with pytest.raises(ProgramError):
            parse_type(text)
    else:
        assert texts(parse_type(text)) == answer


@pytest.mark.parametrize("text", ANSWERS["limits"])
def test_parameters_have_flinks_limits(text: str) -> None:
    kinds: dict[str, Callable[[int], LogicalType]] = {
        "CHAR": CharType,
        "VARBINARY": VarBinaryType,
        "TIME": TimeType,
    }
    name, _, number = text.rstrip(")").partition("(")
    answer = ANSWERS["limits"][text]
    if answer is None and number != "0":  # only literals have the length 0
        with pytest.raises(ProgramError):
            kinds[name](int(number))
    elif answer is not None:
        assert str(kinds[name](int(number))) == answer


def classes_differ(left: LogicalType, right: LogicalType) -> bool:
    """Whether the types are of different classes.

    Flink compares the classes that it could load, and only as many attributes as the first has. Neither can be meant:
    it takes every class that it did not find for the same one, and reads past the end of the shorter list.
    """
    return (
        isinstance(left, StructuredType)
        and isinstance(right, StructuredType)
        and left.class_name != right.class_name
    )


def differences(of: str, ask: Callable[[LogicalType, LogicalType], bool]) -> list[str]:
    """The pairs for which our answer is not Flink's."""
    return [
        f"{NAMES[i]} -> {NAMES[j]}: {not flink}"
        for i, row in enumerate(PAIRS[of])
        for j, flink in ((j, bit == "1") for j, bit in enumerate(row) if bit != "x")
        if ask(TYPES[i], TYPES[j]) is not flink and not classes_differ(TYPES[i], TYPES[j])
    ]


@pytest.mark.parametrize(
    ("of", "ask"),
    [
        ("implicit", supports_implicit_cast),
        ("explicit", supports_explicit_cast),
        ("avoiding", supports_avoiding_cast),
        ("equal", lambda left, right: left == right),
    ],
)
def test_every_pair_of_types_has_flinks_answer(
    of: str, ask: Callable[[LogicalType, LogicalType], bool]
) -> None:
    assert differences(of, ask) == []


def test_every_pair_of_types_has_flinks_common_type() -> None:
    known = {-1: None, -2: None, **dict(enumerate(PAIRS["texts"]))}
    found = {
        f"{NAMES[i]}, {NAMES[j]}": (None if common is None else str(common), known[place])
        for i, row in enumerate(PAIRS["common"])
        for j, place in enumerate(row)
        if not classes_differ(TYPES[i], TYPES[j])
        for common in [find_common_type([TYPES[i], TYPES[j]])]
    }
    assert {pair: both for pair, both in found.items() if both[0] != both[1]} == {}


@pytest.mark.parametrize(("types", "answer"), ANSWERS["triples"])
def test_three_types_have_flinks_common_type(types: list[str], answer: str | int) -> None:
    common = find_common_type([parse_type(text) for text in types])
    assert (str(common) if common else -1) == answer


@pytest.mark.parametrize(
    ("name", "result"),
    [("plus", plus_type), ("times", times_type), ("divide", divide_type), ("modulo", modulo_type)],
)
def test_arithmetic_of_decimals_has_flinks_types(
    name: str, result: Callable[[DecimalType, DecimalType], DecimalType]
) -> None:
    for left, right, answer in ANSWERS["decimals"][name]:
        assert str(result(DecimalType(*left), DecimalType(*right))) == answer, (left, right)


def test_rounding_and_aggregating_decimals_has_flinks_types() -> None:
    for argument, digits, answer in ANSWERS["decimals"]["round"]:
        assert str(round_type(DecimalType(*argument), digits)) == answer, (argument, digits)
    for name, result in (("sum", sum_type), ("avg", average_type)):
        for text, answer in ANSWERS["decimals"][name]:
            assert str(result(parse_type(text))) == answer, (name, text)


def test_errors_say_what_is_wrong_with_a_type() -> None:
    with pytest.raises(ProgramError, match=r"type DECIMAL requires a precision between 1 and 38 .* got 39"):
        DecimalType(39)
    with pytest.raises(ProgramError, match=r"no > at position 9"):
        parse_type("ARRAY<INT")
    with pytest.raises(ProgramError, match=r"names that are all different"):
        parse_type("ROW<a INT, a INT>")


def test_an_interval_has_precisions_of_the_units_that_it_has_only() -> None:
    month, day, hour, second = (IntervalField[name] for name in ("MONTH", "DAY", "HOUR", "SECOND"))
    for make in (
        lambda: YearMonthIntervalType(month, month, 4),
        lambda: DayTimeIntervalType(hour, second, 4, 6),
        lambda: DayTimeIntervalType(day, hour, 2, 3),
        lambda: DayTimeIntervalType(second, day),
        lambda: DayTimeIntervalType(month, day),
    ):
        with pytest.raises(ProgramError, match=r"type INTERVAL_.* requires"):
            make()


def test_types_are_values() -> None:
    assert BigIntType() == BigIntType()
    assert hash(DecimalType(5, 2)) == hash(DecimalType(5, 2))
    assert BigIntType() != BigIntType(nullable=False)
    assert TYPES[0].root is LogicalTypeRoot.CHAR
