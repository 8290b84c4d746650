"""What a shell shows of statements, whoever executes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, TextIO

from firesteel.cli.sql.live import show_live
from firesteel.cli.sql.output import Format, write
from firesteel.common.errors import ConfigurationError
from firesteel.control import JobHandle
from firesteel.graph import Location
from firesteel.graph.nodes import calls_of
from firesteel.sql.script import Piece, pieces
from firesteel.sql.statements.parts import Statement
from firesteel.sql.statements.session import ClientCommand, SetOption
from firesteel.table.table_result import TableResult

RESULT_MODE: Final = "sql-client.execution.result-mode"
_MODES: Final = ("table", "changelog", "tableau")
_HELP: Final = """\
A statement ends with a semicolon. Besides those of Flink SQL there are:
  HELP                  this text
  CLEAR                 clear the terminal
  QUIT or EXIT          leave; jobs that still run are stopped at the end of an epoch
  SET 'key' = 'value'   set an option; SET alone lists them, RESET undoes them
  SHOW JOBS             the jobs that this session has started
  STOP JOB 'id'         end one of them at the end of an epoch"""
DONE: Final = "[INFO] Execute statement succeeded."


class QuitRequested(Exception):  # noqa: N818 - nothing went wrong
    """The statement QUIT or EXIT was executed."""


class Display(ABC):
    """A session with somebody who reads `output`.

    In an `interactive` session statements without rows are confirmed, and Ctrl-C ends a query and not the session.
    With `echo` each statement is written before its answer. `live` shows endless queries as tables that change in
    place; it needs a terminal.
    """

    def __init__(
        self, output: TextIO, form: Format = "table", *, interactive: bool = False, live: bool = False
    ) -> None:
        self.echo = False
        self._output = output
        self._form = form
        self._interactive = interactive
        self._live = live

    def run(self, text: str, name: str = "statement") -> None:
        """Execute the statements of a text, up to the first that fails. Raises QuitRequested where one is QUIT.

        `name` says in errors where a line is.
        """
        for piece in pieces(text):
            self.execute(piece, name)

    def execute(self, piece: Piece, name: str = "statement") -> None:
        """Execute one statement and show what it answers. Raises its error, and QuitRequested for QUIT."""
        if self.echo:
            self.say(f"{piece.text};")
        statement = piece.parse()
        if isinstance(statement, ClientCommand):
            self._command(statement)
            return
        with calls_of(Location(name, piece.span.line)):
            self._execute(statement, piece)

    @abstractmethod
    def _execute(self, statement: Statement, piece: Piece) -> None:
        """Execute a statement that is none of a shell."""

    def close(self) -> None:
        """Give back what the session holds."""

    @abstractmethod
    def candidates(self, before: str, text: str) -> tuple[str, list[str]]:
        """Return the word that is typed at the end of `before`, and the words that it may become."""

    def failed_jobs(self) -> list[JobHandle]:
        """Return the jobs of this process that have failed since the last call."""
        return []

    def running_jobs(self) -> list[JobHandle]:
        """Return the jobs of this process that have not ended."""
        return []

    def say(self, line: str) -> None:
        """Write a line."""
        self._output.write(f"{line}\n")
        self._output.flush()

    def confirm(self, line: str = DONE) -> None:
        """Write a line to somebody who types."""
        if self._interactive:
            self.say(line)

    def _show(self, statement: Statement, result: TableResult) -> None:
        if result.is_ok:
            self.confirm(
                "[INFO] Session property has been set." if isinstance(statement, SetOption) else DONE
            )
        else:
            write(result, self._form, self._output)

    def _show_query(self, result: TableResult, mode: str) -> None:
        if mode not in _MODES:
            raise ConfigurationError(
                f"requires one of {', '.join(_MODES)}", who=f"option {RESULT_MODE!r}", got=repr(mode)
            )
        try:
            if self._live and self._form == "table" and result.shows_kinds and mode == "table":
                show_live(result, self._output)
            else:
                write(result, self._form, self._output)
        except KeyboardInterrupt:
            result.close()
            if not self._interactive:
                raise
            self.say("[INFO] The query was cancelled.")

    def _command(self, statement: ClientCommand) -> None:
        if statement.command in ("QUIT", "EXIT"):
            raise QuitRequested
        self.say(_HELP if statement.command == "HELP" else "\033[2J\033[H")
