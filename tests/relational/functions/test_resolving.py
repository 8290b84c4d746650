"""Names and operands to typed calls, and what is said about those that do not fit."""

from __future__ import annotations

import pytest

from firesteel.common.logical_types import parse_type
from firesteel.relational.expressions import Call, InputRef
from firesteel.relational.functions import FUNCTIONS, FunctionError, explicit_cast, resolve, symbol


def column(text: str, index: int = 0) -> InputRef:
    return InputRef(parse_type(text), index)


def test_operands_are_cast_to_their_common_type() -> None:
    found = resolve("CASE", [column("BOOLEAN"), column("INT NOT NULL"), column("DOUBLE NOT NULL")])
    assert str(found.type) == "DOUBLE NOT NULL"
    assert found.operands[1] == Call(parse_type("DOUBLE NOT NULL"), "CAST", (column("INT NOT NULL"),))


def test_names_are_found_in_any_case_and_under_their_other_names() -> None:
    assert resolve("character_length", [column("STRING")]) == resolve("CHAR_LENGTH", [column("STRING")])
    assert resolve("year", [column("DATE")]) == resolve("EXTRACT", [symbol("YEAR"), column("DATE")])


@pytest.mark.parametrize(
    ("name", "types", "said"),
    [
        ("UPPERR", ["STRING"], "UPPERR is no function that Firesteel has\n  hint: did you mean UPPER?"),
        ("SQRT", ["INT", "INT"], "SQRT requires operands as in SQRT(<NUMERIC>); got 2 operands (INT, INT)"),
        (
            "AND",
            ["BOOLEAN", "INT"],
            "AND requires operands as in AND(<BOOLEAN>, <BOOLEAN> [, ...]); got (BOOLEAN, INT)",
        ),
    ],
)
def test_errors_say_what_would_fit(name: str, types: list[str], said: str) -> None:
    with pytest.raises(FunctionError) as raised:
        resolve(name, [column(text) for text in types])
    assert str(raised.value).startswith(said)


def test_an_error_knows_the_operand_that_does_not_fit() -> None:
    with pytest.raises(FunctionError) as raised:
        resolve("SUBSTRING", [column("STRING"), column("STRING")])
    assert raised.value.argument == 1


def test_a_cast_that_does_not_exist_is_refused() -> None:
    with pytest.raises(FunctionError, match="can be cast to DATE; got INT"):
        explicit_cast(column("INT"), parse_type("DATE"))


def test_every_function_has_a_signature_and_each_shows_itself() -> None:
    for name in FUNCTIONS.names():
        function = FUNCTIONS.find(name)
        assert all(
            signature.shown(function.name).startswith(function.name) for signature in function.signatures
        )
        assert function.signatures
