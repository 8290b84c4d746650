"""Executes statements in this process one by one, and shows what they answer."""

from __future__ import annotations

from typing import Final, TextIO

from firesteel.cli.sql.display import DONE, RESULT_MODE, Display
from firesteel.cli.sql.output import Format, write
from firesteel.common.signals import result_of
from firesteel.control import JobHandle
from firesteel.sql.binding.places import Text
from firesteel.sql.script import Piece
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.parts import Statement
from firesteel.sql.statements.queries import Insert, Query, StatementSet
from firesteel.sql.statements.session import Show, StopJob
from firesteel.table.completion import candidates
from firesteel.table.statements import answers
from firesteel.table.statements.executing import executed
from firesteel.table.table_environment import TableEnvironment
from firesteel.table.table_result import TableResult

SYNCHRONOUS: Final = "table.dml-sync"


class Client(Display):
    """A session whose jobs run in this process."""

    def __init__(
        self,
        environment: TableEnvironment,
        output: TextIO,
        form: Format = "table",
        *,
        interactive: bool = False,
        live: bool = False,
    ) -> None:
        super().__init__(output, form, interactive=interactive, live=live)
        self.environment = environment
        self.session = environment._session
        self.jobs: list[JobHandle] = []

    def _execute(self, statement: Statement, piece: Piece) -> None:
        if isinstance(statement, Show) and statement.what == "JOBS":
            self._show_jobs()
        elif isinstance(statement, StopJob):
            self._stop_job(statement, Text(piece.source, "STOP JOB"))
        elif isinstance(statement, Query):
            mode = self.session.config.get(RESULT_MODE, "table").lower()
            self._show_query(executed(statement, piece.source, self.session), mode)
        elif isinstance(statement, Insert | StatementSet) or _fills(statement):
            self._started(executed(statement, piece.source, self.session))
        else:
            self._show(statement, executed(statement, piece.source, self.session))

    def _show(self, statement: Statement, result: TableResult) -> None:
        if result.job is not None:
            self._started(result)
        else:
            super()._show(statement, result)

    def _started(self, result: TableResult) -> None:
        job = result.job
        if job is None:
            self.confirm()
            return
        self.jobs.append(job)
        self.confirm(f"[INFO] Job ID: {job.job_id}")
        if self.session.config.get(SYNCHRONOUS, "false").lower() == "true":
            job.wait()
            self.confirm("[INFO] Complete execution of the SQL update statement.")

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
            self.say(DONE)

    def candidates(self, before: str, text: str) -> tuple[str, list[str]]:
        """Return the word that is typed at the end of `before`, and the words that it may become."""
        return candidates(self.session, before, text)

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
