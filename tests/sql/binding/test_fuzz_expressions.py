"""Functions of any operands in any clause: the binder answers with a plan or with an error of the house."""

from __future__ import annotations

import random

from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.functions.aggregates import AGGREGATES
from tests.sql.binding.test_fuzz import answered

VALUES = [
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "l",
    "m",
    "v",
    "w",
    "x",
    "t.a",
    "NULL",
    "1",
    "-1",
    "2.5",
    "1e3",
    "'a'",
    "''",
    "TRUE",
    "x'00'",
    "CURRENT_DATE",
    "PROCTIME()",
    "ARRAY[1]",
]
VALUES += ["DATE '2020-01-01'", "TIMESTAMP '2020-01-01 00:00:00.5'", "INTERVAL '1' DAY", "INTERVAL '1' MONTH"]
TYPES = [
    "INT",
    "BIGINT",
    "STRING",
    "DECIMAL(5,2)",
    "DOUBLE",
    "BOOLEAN",
    "DATE",
    "TIME",
    "TIMESTAMP(3)",
    "BYTES",
    "CHAR(2)",
    "ARRAY<INT>",
]
OPERATORS = ["+", "-", "*", "/", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "LIKE"]
PLAIN = [
    name for name in FUNCTIONS.names() if name.replace("_", "").isalnum() and not name.startswith("FIELD")
]
AGGREGATE = [name for name in AGGREGATES if name.replace("_", "").isalpha() and not name.startswith("JSON")]


class Texts:
    """Makes texts of expressions and queries."""

    def __init__(self, seed: int) -> None:
        self._choice = random.Random(seed)

    def value(self, depth: int) -> str:
        """Return an expression."""
        choice = self._choice
        if depth == 0 or choice.random() < 0.2:
            return choice.choice(VALUES)
        one, two = self.value(depth - 1), self.value(depth - 1)
        return choice.choice(
            [
                f"{choice.choice(PLAIN)}({one})",
                f"{choice.choice(PLAIN)}({one}, {two})",
                f"({one} {choice.choice(OPERATORS)} {two})",
                f"CASE WHEN {one} THEN {two} ELSE {one} END",
                f"{choice.choice(['CAST', 'TRY_CAST'])}({one} AS {choice.choice(TYPES)})",
                f"({one} IN ({two}, 1))",
                f"({one} BETWEEN {two} AND {two})",
                f"({one} IS {choice.choice(['NULL', 'NOT TRUE', 'UNKNOWN'])})",
                f"EXTRACT({choice.choice(['YEAR', 'HOUR'])} FROM {one})",
                f"FLOOR({one} TO {choice.choice(['DAY', 'HOUR'])})",
                f"TRIM(BOTH {one} FROM {two})",
                f"({one})[{two}]",
                f"MAP[{one}, {two}]",
                f"ROW({one}, {two})",
            ]
        )

    def aggregate(self) -> str:
        """Return an aggregate, perhaps with FILTER or OVER."""
        choice = self._choice
        call = f"{choice.choice(AGGREGATE)}({choice.choice(['', 'DISTINCT '])}{self.value(1)})"
        suffixes = ("", "", f" FILTER (WHERE {self.value(1)})", f" OVER (ORDER BY {self.value(1)})")
        return call + choice.choice(suffixes)

    def query(self) -> str:
        """Return a query."""
        key, one, two = self.value(1), self.value(2), self.value(1)
        return self._choice.choice(
            [
                f"SELECT {one}, {two} FROM t",
                f"SELECT a FROM t WHERE {one}",
                f"SELECT {key}, {self.aggregate()} FROM t GROUP BY {key} HAVING {two}",
                f"SELECT {self.aggregate()}, {self.aggregate()} FROM t ORDER BY {two}",
                f"VALUES ({one}), ({two})",
                f"SELECT {one} FROM t UNION ALL SELECT {two} FROM t",
                f"CREATE TABLE z (a INT, b AS {one})",
                f"INSERT INTO t (a) SELECT {one} FROM t",
            ]
        )


def test_functions_of_any_operands() -> None:
    texts = Texts(11)
    found = [answered(texts.query()) for _ in range(1500)]
    assert 15 < sum(found) < 1450
