"""The shell in a terminal of its own: a process, a pseudo terminal, and keys."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
PATIENCE = 120
"""Seconds until a test gives up; Spark starts in one of them."""


class EndOfOutput(Exception):
    """The process has closed its end of the terminal."""


class Terminal:
    """What a user sees and types."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process, self._end = pty.fork()
        if self.process == 0:
            os.environ.update(
                HOME=str(home), TERM="xterm", COLUMNS="100", LINES="40", PROMPT_TOOLKIT_NO_CPR="1"
            )
            os.execv(sys.executable, [sys.executable, "-m", "firesteel.cli", "sql", *arguments])
        self.seen = ""

    def types(self, text: str) -> None:
        os.write(self._end, text.encode())

    def shows(self, text: str) -> str:
        """Wait until a text is shown, and return all that was shown up to it."""
        until = time.monotonic() + PATIENCE
        while text not in self.seen:
            try:
                self.seen += self._read(until)
            except EndOfOutput as error:
                pytest.fail(f"{text!r} was not shown, but {error}:\n{self.seen}")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def _read(self, until: float) -> str:
        ready, _, _ = select.select([self._end], [], [], max(0.0, until - time.monotonic()))
        assert ready, f"the shell shows nothing more. It has shown:\n{self.seen}"
        try:
            data = os.read(self._end, 1 << 16)
        except OSError:  # Linux's end of a pseudo terminal whose last process has ended
            data = b""
        if not data:
            raise EndOfOutput("the shell has ended")
        return CODES.sub("", data.decode(errors="replace"))

    def ends(self) -> int:
        """Read until the process closes its end, and return its exit code."""
        until = time.monotonic() + PATIENCE
        with suppress(EndOfOutput):
            while True:
                self._read(until)
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self._end)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


def test_statements_errors_and_the_end(terminal: Terminal, tmp_path: Path):
    terminal.shows("Firesteel SQL> ")
    terminal.types("SHOW CURRENT CATALOG;\r")
    terminal.shows("default_catalog |")
    terminal.types("SHOW TABELS;\r")
    terminal.shows("did you mean TABLES?")
    terminal.types("quit\r")
    assert terminal.ends() == 0
    assert "SHOW TABELS;" in (tmp_path / ".firesteel_sql_history").read_text()


@pytest.mark.spark
def test_ctrl_c_ends_a_live_query_and_not_the_shell(terminal: Terminal):
    terminal.shows("Firesteel SQL> ")
    terminal.types(
        "CREATE TABLE n (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100', "
        "'fields.a.min' = '7', 'fields.a.max' = '7');\r"
    )
    terminal.shows("[INFO] Execute statement succeeded.")
    terminal.types("SELECT a + 1 AS b FROM n;\r")
    terminal.shows("Ctrl-C ends the query")
    terminal.shows("| 8 |")
    terminal.types("\x03")
    assert "| 8 |" in terminal.shows("The query was cancelled: ")
    terminal.types("SHOW TABLES;\r")
    terminal.shows("|          n |")
    terminal.shows("Firesteel SQL> ")  # before it, Ctrl-D would be the terminal's, and lost
    terminal.types("\x04")
    assert terminal.ends() == 0
