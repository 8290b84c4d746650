"""Functions of any operands: a result of the right type, or an error of ours; never one of DuckDB, Arrow or Python."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from firesteel.common.errors import EngineError, FiresteelError
from firesteel.common.logical_types import parse_type
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.relational.expressions import Expression, InputRef, Literal
from firesteel.relational.functions import FUNCTIONS, FunctionError, explicit_cast, resolve, symbol
from tests.relational.functions.asking import computed, table
from tests.relational.functions.flink import questions

UNITS = [*questions.TEMPORAL_UNITS, "BOTH", "LEADING", "TRAILING"]
TARGETS = [parse_type(text) for text in (*questions.TARGETS, "ARRAY<STRING>", "TIMESTAMP(6)", "VARCHAR(2)")]


def operand(chance: random.Random) -> Expression:
    row, _ = table("UTC")
    place = chance.randrange(len(row.fields))
    kind = row.fields[place].type
    roll = chance.random()
    if roll < 0.1:
        return symbol(chance.choice(UNITS))
    if roll < 0.2:
        return Literal(kind.copy(nullable=True), None)
    if roll < 0.3:
        return Literal(parse_type("INT NOT NULL"), chance.choice([0, 1, -1, 2, 38, 2**31 - 1]))
    return InputRef(kind, place)


def expression(chance: random.Random, depth: int) -> Expression:
    if depth and chance.random() < 0.2:
        return explicit_cast(
            expression(chance, depth - 1), chance.choice(TARGETS), tried=chance.random() < 0.5
        )
    name = chance.choice(FUNCTIONS.names())
    operands = [
        expression(chance, depth - 1) if depth and chance.random() < 0.3 else operand(chance)
        for _ in range(chance.randint(0, 4))
    ]
    return resolve(name, operands)


def found(chance: random.Random) -> Expression:
    """Return an expression that is accepted."""
    while True:
        try:
            return expression(chance, 2)
        except FunctionError:
            continue


@pytest.mark.parametrize("seed", range(3))
def test_any_expression_has_a_result_or_an_error_that_says_why(seed: int) -> None:
    chance = random.Random(seed)
    row, rows = table("UTC")
    for _ in range(40):
        chosen = found(chance)
        try:
            column: pa.Array = computed([chosen], row, rows, "UTC").column(0)
        except EngineError as error:
            raise AssertionError(f"{chosen}: {error.details}") from error
        except FiresteelError:
            continue
        assert column.type == to_arrow(chosen.type), chosen
        assert len(column) == rows.num_rows
        assert chosen.type.nullable or not column.null_count, chosen
