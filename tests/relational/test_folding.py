"""What is constant is computed once; what is not stays as it is."""

from __future__ import annotations

import pytest

from firesteel.common.logical_types import BigIntType, CharType, IntType, parse_type
from firesteel.relational.expressions import Expression, InputRef, Literal
from firesteel.relational.folding import folded
from firesteel.relational.functions import explicit_cast, resolve


def number(value: int) -> Literal:
    return Literal(IntType(nullable=False), value)


def text(value: str) -> Literal:
    return Literal(CharType(len(value), nullable=False), value)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (resolve("UPPER", [text("abc")]), "ABC"),
        (resolve("/", [number(7), number(-2)]), -3),
        (explicit_cast(text("2024-02-29"), parse_type("DATE")), "2024-02-29"),
        (explicit_cast(text("1.005"), parse_type("DECIMAL(5, 2)")), "1.01"),
        (resolve("+", [Literal(IntType(), None), number(1)]), "None"),
        (resolve("CASE", [resolve(">", [number(1), number(2)]), number(1), number(3)]), 3),
        (
            explicit_cast(text("2024-02-29 01:02:03.5"), parse_type("TIMESTAMP_LTZ(3)")),
            "Instant<1709168523, 500000000>",
        ),
    ],
)
def test_constants_are_computed(expression: Expression, value: object) -> None:
    found = folded(expression)
    assert isinstance(found, Literal)
    assert found.type == expression.type
    assert str(found.value) == str(value)


@pytest.mark.parametrize(
    "expression",
    [
        resolve("+", [InputRef(BigIntType(), 0), number(1)]).operands[0],
        resolve("RAND", []),
        resolve("NOW", []),
        resolve("/", [number(1), number(0)]),
        explicit_cast(text("x"), IntType()),
        resolve("ARRAY", [number(1)]),
    ],
)
def test_what_is_not_constant_stays(expression: Expression) -> None:
    assert folded(expression) == expression
