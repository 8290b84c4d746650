"""The functions and the queries, the same for both systems.

This module is imported by the programs of both systems, and by their workers: it uses the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Function:
    """A function of numbers: `kind` is that of `udf`, `rows` are those of two runs by system.

    `aim` is how many times as fast as PyFlink it has to be.
    """

    name: str
    title: str
    kind: str
    aim: int
    rows: dict[str, tuple[int, int]]


FUNCTIONS: Final = (
    Function(
        "scalar",
        "scalar, per row",
        "general",
        10,
        {"firesteel": (1_000_000, 9_000_000), "flink": (200_000, 1_200_000)},
    ),
    Function(
        "pandas",
        "of pandas",
        "pandas",
        3,
        {"firesteel": (4_000_000, 40_000_000), "flink": (500_000, 5_500_000)},
    ),
)
BY_NAME: Final = {function.name: function for function in FUNCTIONS}


def value(n: Any, m: Any) -> Any:
    """Return what a query computes; of numbers, and of Series as well.

    >>> value(3, 4)
    13
    """
    return n * 3 + m


def source(rows: int) -> str:
    """Return the statement for the table of numbers."""
    return f"""CREATE TABLE source (id BIGINT, m AS MOD(id, 100)) WITH (
        'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence',
        'fields.id.start' = '0', 'fields.id.end' = '{rows - 1}')"""
