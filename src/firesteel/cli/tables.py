"""Tables, times and sizes for people: on a terminal with colours, elsewhere as aligned text that scripts can cut."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

_UNITS: Final = ((86_400, "day"), (3_600, "h"), (60, "min"))
_STYLES: Final = {
    "RUNNING": "green",
    "RESTARTING": "yellow",
    "LOST": "bold red",
    "FAILED": "bold red",
    "DAMAGED": "bold red",
    "damaged": "bold red",
}
"""Words that stand out."""


class Column(NamedTuple):
    """A column's title; numbers are aligned right. A column that `wraps` shrinks first on a narrow terminal."""

    title: str
    number: bool = False
    wraps: bool = False


def show_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells below the columns' titles; columns without any content are left out."""
    shown = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    columns = [columns[place] for place in shown]
    rows = [[row[place] for place in shown] for row in rows]
    if sys.stdout.isatty():
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in columns:
            justify: Literal["left", "right"] = "right" if column.number else "left"
            table.add_column(column.title, justify=justify, no_wrap=not column.wraps, overflow="fold")
        for row in rows:
            table.add_row(
                *(f"[{_STYLES[cell]}]{cell}[/]" if cell in _STYLES else _plain(cell) for cell in row)
            )
        Console().print(table)
        return
    for line in aligned(columns, rows):
        typer.echo(line)


def aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, with two blanks between columns.

    >>> aligned([Column("NAME"), Column("EPOCH", number=True)], [["clicks", "12"], ["a", "1,345"]])
    ['NAME    EPOCH', 'clicks     12', 'a       1,345']
    """
    table = [[column.title for column in columns], *rows]
    widths = [max(len(row[place]) for row in table) for place in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if column.number else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in table
    ]


def local_time(milliseconds: int) -> str:
    """Return a time as text, in the time zone of this machine."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(milliseconds / 1000))


def how_long(milliseconds: int) -> str:
    """Return a duration as text in its largest unit; less than a second is 0 s.

    >>> [how_long(ms) for ms in (-5, 1_999, 61_000, 7_300_000, 90_000_000, 200_000_000)]
    ['0 s', '1 s', '1 min', '2 h', '1 day', '2 days']
    """
    seconds = max(0, milliseconds) // 1000
    for size, unit in _UNITS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}"
    return f"{seconds} s"


def how_large(size: int) -> str:
    """Return a number of bytes as text.

    >>> how_large(0), how_large(999), how_large(1_000), how_large(12_345_678), how_large(5 * 10**12)
    ('0 B', '999 B', '1.0 kB', '12.3 MB', '5000.0 GB')
    """
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} GB"


def _plain(cell: str) -> str:
    return cell.replace("[", "\\[")
