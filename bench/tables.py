"""Tables in Markdown."""

from __future__ import annotations


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a table whose first column is text and whose other columns are numbers."""

    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    alignment = ["---", *["---:"] * (len(header) - 1)]
    return [line(header), line(alignment), *map(line, rows)]
