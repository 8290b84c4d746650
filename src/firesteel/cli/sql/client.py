"""Executes statements one by one, and shows what they answer."""

from __future__ import annotations

from typing import Final, TextIO

from firesteel.cli.sql.live import show_live
from firesteel.cli.sql.output import Format, write
from firesteel.common.errors import ConfigurationError
from firesteel.common.signals import result_of
from firesteel.control import JobHandle
from firesteel.sql.binding.places import Text
from firesteel.sql.script import Piece, pieces
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.parts import Statement
from firesteel.sql.statements.queries import Insert, Query, StatementSet
from firesteel.sql.statements.session import ClientCommand, SetOption, Show, StopJob
from firesteel.table.statements import answers
from firesteel.table.statements.executing import executed
from firesteel.table.table_environment import TableEnvironment
from firesteel.table.table_result import TableResult

RESULT_MODE: Final = "sql-client.execution.result-mode"
SYNCHRONOUS: Final = "table.dml-sync"
_MODES: Final = ("table", "changelog", "tableau")
_HELP: Final = """\
A statement ends with a semicolon. Besides those of Flink SQL there are:
  HELP                  this text
  CLEAR                 clear the terminal
  QUIT or EXIT          leave; jobs that still run are stopped at the end of an epoch
  SET 'key' = 'value'   set an option; SET alone lists them, RESET undoes them
  SHOW JOBS             the jobs that this session has started
  STOP JOB 'id'         end one of them at the end of an epoch"""
_DONE: Final = "[INFO] Execute statement succeeded."


class QuitRequested(Exception):  # noqa: N818 - nothing went wrong
    """The statement QUIT or EXIT was executed."""


class Client:
    """A session with somebody who reads `output`.

    In an `interactive` session statements without rows are confirmed, and Ctrl-C ends a query and not the session.
    With `echo` each statement is written before its answer. `live` shows endless queries as tables that change in
    place; it needs a terminal.
    """

    def __init__(
        self,
        environment: TableEnvironment,
        output: TextIO,
        form: Format = "table",
        *,
        interactive: bool = False,
        live: bool = False,
    ) -> None:
        self.environment = environment
        self.session = environment._session
        self.jobs: list[JobHandle] = []
        self._output = output
        self._form = form
        self._interactive = interactive
        self._live = live
        self.echo = False

    def run(self, text: str) -> None:
        """Execute the statements of a text, up to the first that fails. Raises QuitRequested where one is QUIT."""
        for piece in pieces(text):
            self.execute(piece)

    def execute(self, piece: Piece) -> None:
        """Execute one statement and show what it answers. Raises its error."""
        if self.echo:
            self.say(f"{piece.text};")
        statement = piece.parse()
        if isinstance(statement, ClientCommand):
            self._command(statement)
        elif isinstance(statement, Show) and statement.what == "JOBS":
            self._show_jobs()
        elif isinstance(statement, StopJob):
            self._stop_job(statement, Text(piece.source, "STOP JOB"))
        elif isinstance(statement, Query):
            self._show_query(executed(statement, piece.source, self.session))
        elif isinstance(statement, Insert | StatementSet) or _fills(statement):
            self._started(executed(statement, piece.source, self.session))
        else:
            self._show(statement, executed(statement, piece.source, self.session))

    def say(self, line: str) -> None:
        """Write a line."""
        self._output.write(f"{line}\n")
        self._output.flush()

    # --- what statements answer ---

    def _show(self, statement: Statement, result: TableResult) -> None:
        if result.is_ok:
            if self._interactive:
                changed = isinstance(statement, SetOption)
                self.say("[INFO] Session property has been set." if changed else _DONE)
        else:
            write(result, self._form, self._output)

    def _show_query(self, result: TableResult) -> None:
        mode = self.session.config.get(RESULT_MODE, "table").lower()
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

    def _started(self, result: TableResult) -> None:
        job = result.job
        if job is None:
            if self._interactive:
                self.say(_DONE)
            return
        self.jobs.append(job)
        if self._interactive:
            self.say(f"[INFO] Job ID: {job.job_id}")
        if self.session.config.get(SYNCHRONOUS, "false").lower() == "true":
            job.wait()
            if self._interactive:
                self.say("[INFO] Complete execution of the SQL update statement.")

    # --- statements that the client executes itself ---

    def _command(self, statement: ClientCommand) -> None:
        if statement.command in ("QUIT", "EXIT"):
            raise QuitRequested
        self.say(_HELP if statement.command == "HELP" else "\033[2J\033[H")

    def _show_jobs(self) -> None:
        rows = [(job.job_id, job.status.name) for job in self.jobs]
        write(answers.texts(("job id", "status"), rows), self._form, self._output)

    def _stop_job(self, statement: StopJob, text: Text) -> None:
        known = {job.job_id: job for job in self.jobs}
        if statement.job not in known:
            raise text.wrong(
                statement.span, "requires the id of a job of this session", got=repr(statement.job)
            )
        stopped = known[statement.job].stop("" if statement.savepoint else None, statement.drain)
        savepoint = result_of(stopped)
        if statement.savepoint:
            write(answers.listed("savepoint path", [savepoint]), self._form, self._output)
        else:
            self.say(_DONE)

    def failed_jobs(self) -> list[JobHandle]:
        """Return the jobs that have failed since the last call."""
        failed = [job for job in self.jobs if job.done() and job.error is not None]
        self.jobs = [job for job in self.jobs if job not in failed]
        return failed

    def running_jobs(self) -> list[JobHandle]:
        """Return the jobs that have not ended."""
        return [job for job in self.jobs if not job.done()]


def _fills(statement: Statement) -> bool:
    return isinstance(statement, CreateTable) and statement.query is not None
