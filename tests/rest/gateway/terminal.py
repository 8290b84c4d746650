"""Flink's SQL client on a pseudo terminal: what somebody sees who types.

`python -m tests.rest.gateway.terminal HOST:PORT FOLDER`, with the address of a gateway of Flink, writes the files in
`flink/` that the tests compare with. The folder becomes the client's home.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pexpect
import pyte

from harness.waiting import until
from tests.rest.gateway.flink_clients import HERE, SqlClient

PROMPT: Final = "Flink SQL>"
_MORE: Final = ">"
_LOOK_SECONDS: Final = 0.05

STATEMENTS: Final = (
    "SET 'sql-client.execution.result-mode' = 'tableau';",
    """CREATE TABLE t (a INT, b AS a * 2)
WITH ('connector' = 'datagen', 'number-of-rows' = '3',
'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3');""",
    "SHOW TABLES;",
    "DESCRIBE t;",
    "SELECT a, b FROM t;",
    "SELECT nope FROM t;",
    "SELEC 1;",
    "SELECT 'a;b' AS s, CAST(NULL AS INT) AS n;",
    "SET 'execution.runtime-mode' = 'batch';",
    "SELECT COUNT(*) AS n FROM t; SHOW CURRENT DATABASE;",
    "CREATE TABLE gone (a INT) WITH ('connector' = 'blackhole');",
    "INSERT INTO gone SELECT a FROM t;",
    "SET 'table.dml-sync' = 'true';",
    "INSERT INTO gone SELECT b FROM t;",
    "BEGIN STATEMENT SET;",
    "INSERT INTO gone SELECT a FROM t;",
    "INSERT INTO gone SELECT b FROM t;",
    "END;",
    "RESET 'table.dml-sync';",
    "HELP;",
    "SET 'execution.runtime-mode' = 'streaming';",
    """CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5',
'fields.n.min' = '7', 'fields.n.max' = '7');""",
)
"""The client asks for more after a line that does not end a statement."""

ENDLESS: Final = "SELECT * FROM endless;"
PAGED: Final = "SELECT k, n * 2 AS twice FROM (VALUES ('a', 1), ('b', 2)) AS t (k, n);"
LAST_STATEMENTS: Final = ("DROP TABLE endless;", "DROP TABLE gone;", "DROP TABLE t;", "SHOW TABLES;", "QUIT;")

LONG: Final = (300, 160)
"""The rows and columns of a screen that has all of a session."""

USUAL: Final = (24, 80)
MODES: Final = ("table", "changelog")

_NOISE: Final = (
    (re.compile(r" \(\d+\.\d+ seconds\)"), ""),
    (re.compile(r"\b[0-9a-f]{32}\b"), "ID"),
    (re.compile(r"received a total of \d+ rows?"), "received a total of N rows"),
    (re.compile(r"Updated: [\d:.]+"), "Updated: TIME"),
)
_REASON: Final = "[ERROR] Could not execute SQL statement. Reason:"


class Terminal:
    """A command on a screen of so many rows and columns."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], rows: int, columns: int
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._child = pexpect.spawn(
            command[0],
            [*command[1:]],
            env={**environment, "TERM": "xterm"},
            encoding="utf-8",
            dimensions=(rows, columns),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        if kind is not None:
            sys.stderr.write("\n".join(self.lines()))
        self._child.close(force=True)

    def type(self, keys: str) -> None:
        """Press keys."""
        self._child.send(keys)

    def lines(self) -> list[str]:
        """Return the lines on the screen, up to the last that is not empty."""
        shown = [line.rstrip() for line in self._screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def wait(self, condition: Callable[[list[str]], bool], seconds: float = 120) -> list[str]:
        """Return the lines once they are as they are waited for."""

        def seen() -> list[str] | None:
            self._read()
            return shown if condition(shown := self.lines()) else None

        return until(seen, seconds) or []

    def ended(self) -> list[str]:
        """Return the lines at the end of the command."""
        until(lambda: not self._read())
        return self.lines()

    def _read(self) -> bool:
        """Show what has been printed; return whether more may come."""
        try:
            self._stream.feed(self._child.read_nonblocking(65536, _LOOK_SECONDS))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True


class Shell:
    """The client, which is given one statement after the other; `shown` are the lines on its screen."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._prompts = 0

    def enter(self, *lines: str) -> None:
        """Wait for the next prompt, and type the lines of a statement."""
        self.prompted()
        for number, line in enumerate(lines):
            if number:
                self._terminal.wait(partial(_asks_for_more, line=lines[number - 1]))
            self._terminal.type(f"{line}\r")

    def prompted(self) -> None:
        """Wait for the next prompt."""
        shown = self._terminal.wait(self._has_prompt)
        self._prompts = _prompts(shown)

    def _has_prompt(self, shown: list[str]) -> bool:
        return bool(shown) and shown[-1] == PROMPT and _prompts(shown) > self._prompts


def _prompts(shown: Sequence[str]) -> int:
    return sum(line.startswith(PROMPT) for line in shown)


def _asks_for_more(shown: Sequence[str], line: str) -> bool:
    return shown[-1] == _MORE and shown[-2].endswith(line)


def typed(terminal: Terminal) -> list[str]:
    """Type statements, end an endless query, quit; return the lines of the screen."""
    shell = Shell(terminal)
    for statement in STATEMENTS:
        shell.enter(*statement.splitlines())
    shell.enter(ENDLESS)
    terminal.wait(lambda shown: shown[-1].startswith("| +I |"))
    terminal.type("\x03")
    for statement in LAST_STATEMENTS:
        shell.enter(statement)
    shown = terminal.ended()
    return without_noise(shown[next(at for at, line in enumerate(shown) if line.startswith(PROMPT)) :])


def paged(terminal: Terminal, mode: str) -> list[str]:
    """Look at the rows of a query on a page of their own; return the lines of the page at the query's end."""
    shell = Shell(terminal)
    shell.enter(f"SET 'sql-client.execution.result-mode' = '{mode}';")
    shell.enter(PAGED)
    shown = terminal.wait(lambda shown: len(shown) > 1 and "Table program finished." in shown[1])
    terminal.type("Q")
    return without_noise(shown)


def without_noise(lines: Sequence[str]) -> list[str]:
    """Return lines without what differs each time, and without the reasons of errors; equal lines are there once."""
    found: list[str] = []
    reason = False
    for line in lines:
        reason = reason and not line.startswith(PROMPT)
        if not reason:
            found.append(_plain(line))
        reason = reason or line.startswith(_REASON)
    return [line for line, _ in groupby(found)]


def _plain(line: str) -> str:
    for pattern, replacement in _NOISE:
        line = pattern.sub(replacement, line)
    return line


def main() -> None:
    """Write what the client shows at a gateway of Flink."""
    address, folder = sys.argv[1:]
    client = SqlClient(Path(folder))
    command = client.command(address)
    with Terminal(command, client.environment, *LONG) as terminal:
        (HERE / "typed.txt").write_text("\n".join(typed(terminal)) + "\n")
    for mode in MODES:
        with Terminal(command, client.environment, *USUAL) as terminal:
            (HERE / f"page_{mode}.txt").write_text("\n".join(paged(terminal, mode)) + "\n")


if __name__ == "__main__":
    main()
