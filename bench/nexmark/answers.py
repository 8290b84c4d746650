"""The answers of queries, in a form in which those of two systems can be compared.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

from bench.nexmark.queries import Query, columns_of

_EPOCH = "TIMESTAMP '1970-01-01 00:00:00'"


def summary(query: Query) -> str:
    """Return a query whose last row has the number of the rows of another, and a sum of each column, as texts.

    Sums are of numbers, of seconds, and of the lengths of texts; columns that ties leave open are left out.

    >>> from bench.nexmark.queries import BY_NAME
    >>> summary(BY_NAME["q2"]).partition(" FROM ")[0]
    'SELECT CAST(COUNT(*) AS STRING), CAST(SUM(`auction`) AS STRING), CAST(SUM(`price`) AS STRING)'
    """
    shown = ["COUNT(*)", *(f"SUM({_number(name, kind)})" for name, kind in _compared(query))]
    names = ", ".join(f"`{name}`" for name, _ in columns_of(query))
    casts = ", ".join(f"CAST({text} AS STRING)" for text in shown)
    return f"SELECT {casts} FROM ({query.select}) AS answer({names})"


def rows(query: Query) -> str:
    """Return a query for the rows of another, as texts, without the columns that ties leave open."""
    names = ", ".join(f"`{name}`" for name, _ in columns_of(query))
    casts = ", ".join(f"CAST(`{name}` AS STRING)" for name, _ in _compared(query))
    return f"SELECT {casts} FROM ({query.select}) AS answer({names})"


def _compared(query: Query) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind in columns_of(query) if name not in query.tied]


def _number(name: str, kind: str) -> str:
    if kind == "STRING":
        return f"CHAR_LENGTH(`{name}`)"
    if kind.startswith("TIMESTAMP"):
        return f"TIMESTAMPDIFF(SECOND, {_EPOCH}, `{name}`)"
    return f"`{name}`"
