"""Exactly once by the database's own two-phase commit (PostgreSQL): `PREPARE TRANSACTION`, then `COMMIT PREPARED`.

A writer's rows of an epoch are one transaction on the target itself. The transaction's name contains the sink, the
epoch, the subtask and the attempt. The transaction also inserts this name into the table `firesteel_prepared`, so the
name becomes visible with the commit. The names are deleted when the epoch is recorded in `firesteel_progress`. So a
transaction that the database no longer knows was committed if its name is there or its epoch is recorded, and lost
otherwise.

A prepared transaction keeps its locks until it is committed. One that a failed attempt left behind would block the next
attempt at the same keys. So a blocked writer rolls back what earlier tries of its own epoch left behind. When an epoch
commits, all leftovers are rolled back.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.progress import lock_progress, note_progress, record_epoch, recorded_epoch
from firesteel.connectors.sql.rows import RowReader
from firesteel.connectors.sql.rows_writer import RowsWriter
from firesteel.connectors.sql.settings import SqlSettings, scope_of
from firesteel.connectors.sql.statements import target_table, upsert
from firesteel.connectors.sql.tables import ensure_tables, prepared_table, target_types
from firesteel.functions.sink import Committer, Leftovers, WriterContext

_LOCK_WAIT_MS: Final = 2_000
_LONGEST_NAME: Final = 200
_GRACE_S: Final = 10
"""How long a transaction that another driver prepared is left alone: that driver may be about to commit."""

_LOCK_NOT_AVAILABLE: Final = "55P03"
_UNKNOWN: Final = "42704"
_NAME: Final = re.compile(r"firesteel/([0-9a-f]{16})/(\d+)/(\d+)/(.+)")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A transaction that waits for `COMMIT PREPARED`."""

    job: str
    operator: str
    epoch: int
    name: str


def transaction_name(scope: str, epoch: int, subtask: int, attempt: str) -> str:
    """Return the name of a writer's transaction, which is unique for this try of the subtask's epoch.

    >>> transaction_name("0123456789abcdef", 7, 0, "c0ffee-3-0")
    'firesteel/0123456789abcdef/7/0/c0ffee-3-0'
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", attempt)
    return f"firesteel/{scope}/{epoch}/{subtask}/{plain}"[:_LONGEST_NAME]


def engine_try(attempt: str) -> str:
    """Return which try of the epoch an attempt belongs to: all attempts of one try start with the same two parts.

    >>> engine_try("c0ffee-3-0"), engine_try("c0ffee-3-117-0")
    ('c0ffee-3', 'c0ffee-3')
    """
    return "-".join(attempt.split("-")[:2])


class PreparedWriter(RowsWriter):
    """Writes into the target in a transaction that `prepare_commit` prepares.

    If the connection is lost, the transaction is lost with it, and the rows cannot be sent again from here. Then the
    writer raises EngineError, and the epoch is retried as after the loss of a worker.
    """

    def __init__(self, settings: SqlSettings, context: WriterContext) -> None:
        self._settings = settings
        self._context = context
        self._scope = scope_of(context.job_id, context.operator_id)
        self._name = transaction_name(self._scope, context.epoch, context.subtask, context.attempt)
        self._database = Database(settings)
        self._database.run(lambda connection, _: _require_two_phases(connection, settings))
        self._database.run(lambda connection, _: target_types(connection, settings))
        ensure_tables(self._database, [prepared_table(settings.schema)])
        self.reader = RowReader(settings, self._database.dialect.name)
        self._put, self._delete = _statements(settings)
        self._rows: list[dict[str, Any]] = []
        self._deleting = False
        self._database.in_transaction(
            lambda connection: connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_WAIT_MS}")
        )

    def put(self, changes: Iterable[tuple[bool, tuple[Any, ...]]]) -> None:
        """Write rows of the reader, each with whether it deletes."""
        for deletion, row in changes:
            if deletion is not self._deleting or len(self._rows) >= self._settings.batch_rows:
                self._flush()
                self._deleting = deletion
            self._rows.append({f"c{index}": item for index, item in enumerate(row)})

    def prepare_commit(self) -> Sequence[Prepared]:
        self._flush()
        context, settings = self._context, self._settings
        note = sa.insert(prepared_table(settings.schema)).values(
            name=self._name, scope=self._scope, epoch=context.epoch
        )

        def prepare(connection: sa.Connection) -> None:
            connection.execute(note)
            connection.exec_driver_sql(f"PREPARE TRANSACTION '{self._name}'")

        self._database.in_transaction(prepare)
        self._database.close()
        return [Prepared(context.job_id, context.operator_id, context.epoch, self._name)]

    def abort(self) -> None:
        """Close the connection, which rolls back what is not prepared."""
        self._database.close()

    def _flush(self) -> None:
        if not self._rows:
            return
        statement = self._delete if self._deleting else self._put
        rows, self._rows = self._rows, []
        until = time.monotonic() + self._settings.retry_ms / 1000
        while not self._database.in_transaction(lambda connection: _try(connection, statement, rows)):
            if not self._unblock() and time.monotonic() > until:
                raise ConnectorError(
                    "requires rows that are not locked by another transaction",
                    who=self._settings.who,
                    got=f"locks that were held for {self._settings.retry_ms / 1000:g} s",
                    hint="rows of one key must be written by one subtask: key_by the sink's key before it, or "
                    "use way='staged'",
                )

    def _unblock(self) -> int:
        """Roll back the transactions that earlier tries prepared and never committed; return their number."""
        mine = engine_try(self._context.attempt)
        epoch = self._context.epoch

        def is_left_over(found: _Found) -> bool:
            if found.epoch != epoch or engine_try(found.attempt) == mine:
                return found.epoch < epoch
            same_driver = found.attempt.split("-")[0] == mine.split("-")[0]
            return same_driver or found.age_s > _GRACE_S

        return roll_back(self._settings, self._scope, is_left_over)


class PreparedCommitter(Committer):
    """Commits prepared transactions by name, and records the epoch when all of them are committed."""

    def __init__(self, settings: SqlSettings) -> None:
        self._settings = settings
        self._database = Database(settings)
        self._autocommit = Database(settings, autocommit=True)

    def commit(self, committables: Sequence[Prepared]) -> None:
        groups: dict[tuple[str, str, int], list[Prepared]] = {}
        for prepared in committables:
            groups.setdefault((prepared.job, prepared.operator, prepared.epoch), []).append(prepared)
        for (job, operator, epoch), group in sorted(groups.items(), key=lambda item: item[0]):
            note_progress(self._database, self._settings.schema, job, operator)
            for prepared in group:
                self._commit_one(prepared)
            self._record(job, operator, epoch)
            roll_back(self._settings, scope_of(job, operator), lambda found, last=epoch: found.epoch <= last)  # type: ignore[misc]

    def discard(self, leftovers: Leftovers) -> None:
        """Roll back what crashes, and epochs that a job went back behind, have left prepared."""
        scope = scope_of(leftovers.job_id, leftovers.operator_id)
        roll_back(self._settings, scope, lambda found: found.epoch <= leftovers.epoch)

    def close(self) -> None:
        self._database.close()
        self._autocommit.close()

    def _commit_one(self, prepared: Prepared) -> None:
        finish = f"COMMIT PREPARED '{prepared.name}'"
        if self._autocommit.run(lambda connection, _: _if_known(connection, finish)):
            return
        if not self._database.run(lambda connection, _: self._is_committed(connection, prepared)):
            raise ConnectorError(
                f"requires the transaction {prepared.name!r} that it prepared",
                who=self._settings.who,
                got="a database that does not know it, and has not committed it",
                hint="somebody rolled it back: start the job from an older epoch or a savepoint",
            )

    def _is_committed(self, connection: sa.Connection, prepared: Prepared) -> bool:
        notes = prepared_table(self._settings.schema)
        note = sa.select(notes.c.name).where(notes.c.name == prepared.name)
        if connection.execute(note).first() is not None:
            return True
        schema = self._settings.schema
        return (recorded_epoch(connection, schema, prepared.job, prepared.operator) or 0) >= prepared.epoch

    def _record(self, job: str, operator: str, epoch: int) -> None:
        schema = self._settings.schema
        notes = prepared_table(schema)

        def record(connection: sa.Connection, _tries: int) -> None:
            if lock_progress(connection, schema, job, operator) >= epoch:
                return
            record_epoch(connection, schema, job, operator, epoch)
            mine = sa.and_(notes.c.scope == scope_of(job, operator), notes.c.epoch <= epoch)
            connection.execute(sa.delete(notes).where(mine))

        self._database.run(record)


@dataclass(frozen=True, slots=True)
class _Found:
    """A prepared transaction of a sink, parsed from its name; `age_s` is its age in seconds."""

    name: str
    epoch: int
    attempt: str
    age_s: float


def roll_back(settings: SqlSettings, scope: str, which: Callable[[_Found], bool]) -> int:
    """Roll back the prepared transactions of a sink for which `which` is true; return their number."""
    database = Database(settings, autocommit=True)
    try:
        found = database.run(lambda connection, _: _prepared(connection, scope))
        names = [transaction.name for transaction in found if which(transaction)]
        for name in names:
            finish = f"ROLLBACK PREPARED '{name}'"
            database.run(lambda connection, _, finish=finish: _if_known(connection, finish))  # type: ignore[misc]
        return len(names)
    finally:
        database.close()


def _prepared(connection: sa.Connection, scope: str) -> list[_Found]:
    query = sa.text(
        "SELECT gid, extract(epoch FROM now() - prepared) FROM pg_prepared_xacts "
        "WHERE database = current_database() AND gid LIKE :names"
    )
    rows = connection.execute(query, {"names": f"firesteel/{scope}/%"}).all()
    matches = [(match, age) for gid, age in rows if (match := _NAME.fullmatch(gid))]
    return [_Found(match[0], int(match[2]), match[4], float(age)) for match, age in matches]


def _if_known(connection: sa.Connection, finish: str) -> bool:
    """Finish a prepared transaction; return whether the database knew it."""
    try:
        connection.exec_driver_sql(finish)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _UNKNOWN:
            return False
        raise
    return True


def _try(connection: sa.Connection, statement: sa.Executable, rows: list[dict[str, Any]]) -> bool:
    """Execute a statement for many rows; return False, with nothing done, if a row is locked."""
    try:
        with connection.begin_nested():
            connection.execute(statement, rows)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            return False
        raise
    return True


def _statements(settings: SqlSettings) -> tuple[sa.Executable, sa.Executable]:
    """Return the statements that insert and delete a row, with the values as parameters c0, c1, ..."""
    target = target_table(settings)
    marks: dict[str, Any] = {name: sa.bindparam(f"c{index}") for index, name in enumerate(settings.columns)}
    delete = sa.delete(target).where(*(target.c[name] == marks[name] for name in settings.key))
    if settings.key:
        return upsert(settings, target, "postgresql", None), delete
    return sa.insert(target).values(marks), delete


def _require_two_phases(connection: sa.Connection, settings: SqlSettings) -> None:
    if connection.dialect.name != "postgresql":
        raise ConnectorError(
            "requires PostgreSQL for way='prepared'",
            who=settings.who,
            got=connection.dialect.name,
            hint="way='staged' is exactly once with every database",
        )
    most = connection.exec_driver_sql("SHOW max_prepared_transactions").scalar_one()
    if int(most) == 0:
        raise ConnectorError(
            "requires a server with prepared transactions",
            who=settings.who,
            got="max_prepared_transactions = 0",
            hint="set it to at least twice the job's parallelism and restart the server, or use way='staged'",
        )
