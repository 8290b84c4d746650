"""Exactly once with any database: rows are staged, then moved to the target in one transaction with the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.loading import load
from firesteel.connectors.sql.progress import lock_progress, note_progress, record_epoch
from firesteel.connectors.sql.rows import RowReader
from firesteel.connectors.sql.rows_writer import RowsWriter
from firesteel.connectors.sql.settings import SqlSettings, scope_of
from firesteel.connectors.sql.statements import check_upsert, counted, moving
from firesteel.connectors.sql.tables import (
    ATTEMPT,
    EPOCH,
    SCOPE,
    SEQUENCE,
    ensure_staging,
    forget,
    staging_table,
)
from firesteel.functions.sink import Committer, WriterContext


@dataclass(frozen=True, slots=True)
class Staged:
    """The rows that one writer staged in `table` in an epoch; `rows` is their number."""

    job: str
    operator: str
    epoch: int
    subtask: int
    attempt: str
    table: str
    rows: int


class StagedWriter(RowsWriter):
    """Puts rows into the staging table, one batch per transaction; only the committer reads them.

    A row is identified by its attempt and sequence. If the connection is lost and the batch may or may not be there,
    it is deleted before it is inserted again. The primary key rejects a late arrival of the first try.
    """

    def __init__(self, settings: SqlSettings, context: WriterContext) -> None:
        self._settings = settings
        self._context = context
        self._scope = scope_of(context.job_id, context.operator_id)
        self._database = Database(settings)
        check_upsert(settings, self._database.dialect.name)
        self.reader = RowReader(settings, self._database.dialect.name)
        self._staging = ensure_staging(self._database, settings)
        self._rows: list[tuple[Any, ...]] = []
        self._taken = 0

    def put(self, changes: Iterable[tuple[bool, tuple[Any, ...]]]) -> None:
        """Write rows of the reader, each with whether it deletes."""
        context, append = self._context, self._rows.append
        head = (self._scope, context.epoch, context.attempt)
        for deletion, row in changes:
            append((*head, self._taken, context.subtask, int(deletion), *row))
            self._taken += 1
            if len(self._rows) >= self._settings.batch_rows:
                self._flush()

    def prepare_commit(self) -> Sequence[Staged]:
        if self._rows:
            self._flush()
        self._database.close()
        context = self._context
        return [
            Staged(
                context.job_id,
                context.operator_id,
                context.epoch,
                context.subtask,
                context.attempt,
                self._staging.name,
                self._taken,
            )
        ]

    def abort(self) -> None:
        """Leave the staged rows: the next commit removes them."""
        self._database.close()

    def _flush(self) -> None:
        staging, rows = self._staging, self._rows

        def stage(connection: sa.Connection, tries: int) -> None:
            if tries:
                again = sa.and_(
                    staging.c[SCOPE] == self._scope,
                    staging.c[EPOCH] == self._context.epoch,
                    staging.c[ATTEMPT] == self._context.attempt,
                    staging.c[SEQUENCE] >= rows[0][3],
                )
                connection.execute(sa.delete(staging).where(again))
            load(connection, staging, rows)

        try:
            self._database.run(stage)
        except ConnectorError:
            forget(staging)
            raise
        rows.clear()


class StagedCommitter(Committer):
    """Applies an epoch's staged rows once, even if it is called again or another driver calls it too.

    The progress row is locked first, so the second of two committers finds the epoch recorded. The same check decides
    whether a COMMIT succeeded whose answer was lost.
    """

    def __init__(self, settings: SqlSettings) -> None:
        self._settings = settings
        self._database = Database(settings)

    def commit(self, committables: Sequence[Staged]) -> None:
        groups: dict[tuple[str, str, int], list[Staged]] = {}
        for staged in committables:
            groups.setdefault((staged.job, staged.operator, staged.epoch), []).append(staged)
        for job, operator, epoch in sorted(groups):
            self._commit_epoch(job, operator, epoch, groups[job, operator, epoch])

    def close(self) -> None:
        self._database.close()

    def _commit_epoch(self, job: str, operator: str, epoch: int, staged: list[Staged]) -> None:
        schema = self._settings.schema
        note_progress(self._database, schema, job, operator)

        def apply(connection: sa.Connection, _tries: int) -> None:
            if lock_progress(connection, schema, job, operator) >= epoch:
                return
            scope = scope_of(job, operator)
            for name in sorted({item.table for item in staged}):
                mine = [item for item in staged if item.table == name]
                self._move(connection, staging_table(name, self._settings), scope, epoch, mine)
            record_epoch(connection, schema, job, operator, epoch)

        self._database.run(apply)

    def _move(
        self, connection: sa.Connection, staging: sa.Table, scope: str, epoch: int, staged: list[Staged]
    ) -> None:
        expected = {item.attempt: item.rows for item in staged if item.rows}
        found = connection.execute(counted(staging, scope, epoch, expected)).all()
        if {attempt: rows for attempt, rows, _ in found} != expected:
            raise ConnectorError(
                f"requires the {sum(expected.values())} rows that it staged for epoch {epoch} in {staging.name!r}",
                who=self._settings.who,
                got=f"{sum(rows for _, rows, _ in found)}",
                hint="restore the staging table, or start the job from an older epoch or a savepoint",
            )
        deletes = any(deletions for _, _, deletions in found)
        dialect = connection.dialect.name
        for statement in moving(self._settings, staging, dialect, scope, epoch, expected, deletes):
            connection.execute(statement)
        done = sa.and_(staging.c[SCOPE] == scope, staging.c[EPOCH] <= epoch)
        connection.execute(sa.delete(staging).where(done))
