"""The answer of an endless query as a table that changes in place."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from firesteel.common.signals import patiently
from firesteel.table.table_result import TableResult
from firesteel.table.tableau import Tableau, widths_by_content

_EVERY: Final = 0.1
"""Seconds between two pictures."""

_MOST_WIDTH: Final = 30
_AROUND: Final = 6
"""Lines of a terminal that rows cannot have: borders, names, the line below, the prompt."""


class MaterializedRows:
    """The rows that a changelog adds up to, each with its number, in the order in which they came.

    >>> rows = MaterializedRows()
    >>> rows.apply([["+I", "a", "1"], ["+I", "b", "1"], ["-U", "a", "1"], ["+U", "a", "2"]])
    >>> rows.listed(), rows.changes
    ([('b', '1'), ('a', '2')], 4)
    """

    def __init__(self) -> None:
        self.changes = 0
        self._counts: dict[tuple[str, ...], int] = {}

    def apply(self, changes: Iterable[Sequence[str]]) -> None:
        """Take changes: the kind, then the cells."""
        for kind, *cells in changes:
            self.changes += 1
            row = tuple(cells)
            count = self._counts.pop(row, 0) + (1 if kind in ("+I", "+U") else -1)
            if count:
                self._counts[row] = count

    def __len__(self) -> int:
        return sum(count for count in self._counts.values() if count > 0)

    def listed(self, most: int | None = None) -> list[tuple[str, ...]]:
        """Return the rows, the newest at the end; with `most` the newest ones only."""
        newest = (row for row in reversed(self._counts) for _ in range(max(self._counts[row], 0)))
        return list(islice(newest, most))[::-1]


def show_live(result: TableResult, output: TextIO) -> None:
    """Show the rows of a query while they change, until it ends; then print all of them.

    Ctrl-C ends the query, and raises nothing; then the newest rows are printed. Raises the error of a query that fails.
    """
    reader = _Reader(result)
    reader.start()
    console = Console(file=output)
    interrupted = False
    with Live(console=console, auto_refresh=False, transient=True) as live:
        try:
            while not patiently(reader.ended.wait, _EVERY):
                live.update(Text(reader.picture(console.height, console.width)), refresh=True)
        except KeyboardInterrupt:
            interrupted = True
            result.close()
            patiently(reader.ended.wait)
    if reader.error is not None and not interrupted:
        raise reader.error
    most = max(1, console.height - _AROUND) if interrupted else None
    for line in reader.final(most):
        output.write(f"{line}\n")
    ended = "The query was cancelled: " if interrupted else ""
    output.write(f"[INFO] {ended}{reader.rows.changes} changes in all.\n")
    output.flush()


class _Reader(threading.Thread):
    """Adds up the changes of a result, on a thread of its own."""

    def __init__(self, result: TableResult) -> None:
        super().__init__(name="firesteel-sql-result", daemon=True)
        self.rows = MaterializedRows()
        self.ended = threading.Event()
        self.error: Exception | None = None
        self._result = result
        self._names = [field.name for field in result.row.fields]
        self._changed = threading.Lock()

    def run(self) -> None:
        """Read until the end."""
        try:
            for line in self._result.lines():
                with self._changed:
                    self.rows.apply([line])
        except Exception as error:
            self.error = error
        finally:
            self.ended.set()

    def picture(self, height: int, width: int) -> str:
        """Return the newest rows as a table that fits a terminal."""
        with self._changed:
            rows, count, changes = (
                self.rows.listed(max(1, height - _AROUND)),
                len(self.rows),
                self.rows.changes,
            )
        lines = [line[:width] for line in self._drawn(rows)]
        return "\n".join([*lines, f"{count} rows, {changes} changes; Ctrl-C ends the query"])

    def final(self, most: int | None) -> list[str]:
        """Return the rows as a table, at most the newest `most` of them."""
        rows, all_rows = self.rows.listed(most), len(self.rows)
        count = f"{all_rows} {'row' if all_rows == 1 else 'rows'} in set"
        if len(rows) < all_rows:
            count += f"; these are the newest {len(rows)}"
        return [*self._drawn(rows), count] if rows else ["Empty set"]

    def _drawn(self, rows: Sequence[Sequence[str]]) -> list[str]:
        table = Tableau(self._names, widths_by_content(self._names, rows, _MOST_WIDTH))
        return [*table.head().split("\n"), *map(table.line, rows), table.border()]
