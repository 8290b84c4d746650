"""What a statement does in a session of the gateway (Flink: OperationExecutor).

Queries, definitions and options are those of `firesteel.table`. Here are the statements about jobs, which are those of
the cluster, and statement sets that a client sends statement by statement: BEGIN STATEMENT SET, the INSERTs, END.
"""

from __future__ import annotations

import datetime as dt
import threading
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.importing import importing_from
from firesteel.common.logical_types import STRING, Field, LocalZonedTimestampType
from firesteel.graph import Location
from firesteel.graph.nodes import calls_of
from firesteel.rest.gateway.jobs import ClusterJobs, RunningJob
from firesteel.rest.gateway.operations import Outcome
from firesteel.rest.gateway.sessions import GatewaySession
from firesteel.sql.binding.places import Text
from firesteel.sql.lexer import TokenKind, tokens
from firesteel.sql.script import Piece, pieces, text_is_open
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.parts import Statement
from firesteel.sql.statements.queries import CompilePlan, ExecutePlan, Insert, Query, StatementSet
from firesteel.sql.statements.session import ClientCommand, DescribeJob, Show, StopJob
from firesteel.table.statements import answers
from firesteel.table.statements.executing import executed
from firesteel.table.table_result import TableResult

SYNCHRONOUS: Final = "table.dml-sync"
_JOB_COLUMNS: Final = (
    Field("job id", STRING),
    Field("job name", STRING),
    Field("status", STRING),
    Field("start time", LocalZonedTimestampType(3)),
)


def starts_job(statement: Statement) -> bool:
    """Return whether a statement starts a job that others may wait for: an INSERT, and what is like one."""
    if isinstance(statement, CompilePlan):
        return statement.execute
    return isinstance(statement, Insert | StatementSet | ExecutePlan) or _fills(statement)


class Statements:
    """Executes statements, whose jobs are those of `jobs`."""

    def __init__(self, jobs: ClusterJobs) -> None:
        self._jobs = jobs

    def execute(self, text: str, session: GatewaySession, given_up: threading.Event) -> Outcome:
        """Execute the one statement of a text. Raises its error; ProgramError if it is not one, or none to its end."""
        words = _words(text)
        if words == _BEGIN and session.gathering is None:
            session.gathering = []
            return Outcome(answers.ok())
        with importing_from(session.modules), calls_of(Location("statement", 1)):
            if words == _END:
                return self._end_set(session, given_up)
            if session.gathering is not None:
                return _gathered(text, session)
            return self._execute(_only(text), session, given_up)

    def configure(self, text: str, session: GatewaySession, given_up: threading.Event) -> Outcome:
        """Execute a statement that prepares a session: one that starts no job. Raises ProgramError for others."""
        statement = _only(text).parse()
        if isinstance(statement, Query) or starts_job(statement):
            raise ProgramError(
                "takes statements that start no job", who="configuring a session", got=text.strip()[:100]
            )
        return self.execute(text, session, given_up)

    def _execute(self, piece: Piece, session: GatewaySession, given_up: threading.Event) -> Outcome:
        statement = piece.parse()
        text = Text(piece.source, "the statement")
        match statement:
            case ClientCommand():
                raise text.wrong(statement.span, "is one of a shell, and no statement", got=statement.command)
            case Show(what="JOBS"):
                return Outcome(_listed(self._jobs.all()))
            case DescribeJob():
                return Outcome(_listed([self._jobs.one(statement.job)]))
            case StopJob():
                return Outcome(self._stopped(statement))
            case Query():
                return Outcome(executed(statement, piece.source, session.session), is_query=True)
        before = self._jobs.submitted
        result = executed(statement, piece.source, session.session)
        job_id = None if self._jobs.submitted is before else self._jobs.submitted
        return self._started(result, job_id, session, given_up)

    def _started(
        self, result: TableResult, job_id: str | None, session: GatewaySession, given_up: threading.Event
    ) -> Outcome:
        """Return what Flink answers to a statement that starts a job, as INSERT does: its id.

        If the session wants that, once the job has ended.
        """
        own = result.job
        known = job_id or (None if own is None else own.job_id)
        if known is None:
            return Outcome(result)
        if session.session.config.get(SYNCHRONOUS, "false").lower() == "true":
            if own is None:
                self._jobs.wait(known, given_up)
            else:
                own.wait()
        return Outcome(answers.listed("job id", [known]), job_id=known)

    def _stopped(self, statement: StopJob) -> TableResult:
        place = self._jobs.stop(statement.job, savepoint=statement.savepoint, drain=statement.drain)
        return answers.listed("savepoint path", [place]) if statement.savepoint else answers.ok()

    def _end_set(self, session: GatewaySession, given_up: threading.Event) -> Outcome:
        gathered, session.gathering = session.gathering, None
        if gathered is None:
            raise ProgramError("requires BEGIN STATEMENT SET before it", who="END", got="no statement set")
        if not gathered:
            return Outcome(answers.ok())
        text = "EXECUTE STATEMENT SET BEGIN " + " ".join(f"{insert};" for insert in gathered) + " END"
        return self._execute(_only(text), session, given_up)


_BEGIN: Final = ["BEGIN", "STATEMENT", "SET"]
_END: Final = ["END"]


def _words(text: str) -> list[str]:
    return [token.key for token in tokens(text) if token.kind is not TokenKind.END and token.key != ";"]


def _only(text: str) -> Piece:
    """Return the one statement of a text. Raises ProgramError for others, or an error that says that more is to come.

    Flink's clients send what they have at each semicolon, and read on if the answer has the words of Flink's parser.
    """
    found = list(pieces(text))
    if not found:
        raise ProgramError("requires a statement", who="the SQL gateway", got="an empty text")
    if text_is_open(text) or (not found[-1].complete and text.rstrip().endswith(";")):
        raise ProgramError('Encountered "<EOF>": the statement is incomplete')
    if len(found) > 1:
        raise ProgramError("takes one statement at a time", who="the SQL gateway", got=f"{len(found)}")
    return found[0]


def _gathered(text: str, session: GatewaySession) -> Outcome:
    """Keep an INSERT for the end of its statement set; one that is wrong fails now."""
    piece = _only(text)
    statement = piece.parse()
    if not isinstance(statement, Insert):
        raise ProgramError(
            "takes INSERTs only, and END", who="the statement set of this session", got=piece.text[:100]
        )
    assert session.gathering is not None
    executed(_explaining(piece), piece.source, session.session)
    session.gathering.append(piece.text)
    return Outcome(answers.ok())


def _explaining(piece: Piece) -> Statement:
    return _only(f"EXPLAIN {piece.text}").parse()


def _fills(statement: Statement) -> bool:
    return isinstance(statement, CreateTable) and statement.query is not None


def _listed(jobs: list[RunningJob]) -> TableResult:
    rows = [
        (job.id, job.name, job.status, dt.datetime.fromtimestamp(job.started_at / 1000, dt.UTC))
        for job in jobs
    ]
    return answers.table(_JOB_COLUMNS, rows)
