"""The record of committed epochs: one row for each sink of each job, locked during a commit."""

from __future__ import annotations

import sqlalchemy as sa

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.tables import ensure_tables, progress_table


def note_progress(database: Database, schema: str | None, job: str, operator: str) -> None:
    """Make sure that this sink has a row to lock; a new row starts at epoch 0."""
    table = progress_table(schema)
    ensure_tables(database, [table])
    if database.run(lambda connection, _: recorded_epoch(connection, schema, job, operator)) is not None:
        return
    try:
        database.run(
            lambda connection, _: connection.execute(
                sa.insert(table).values(job=job, operator=operator, epoch=0)
            )
        )
    except ConnectorError:  # another committer may have been faster
        if database.run(lambda connection, _: recorded_epoch(connection, schema, job, operator)) is None:
            raise


def recorded_epoch(
    connection: sa.Connection, schema: str | None, job: str, operator: str, lock: bool = False
) -> int | None:
    """Return the last epoch recorded, None for a sink without a row; `lock` locks the row for the transaction."""
    table = progress_table(schema)
    query = sa.select(table.c.epoch).where(table.c.job == job, table.c.operator == operator)
    found = connection.execute(query.with_for_update() if lock else query).scalar_one_or_none()
    return None if found is None else int(found)


def lock_progress(connection: sa.Connection, schema: str | None, job: str, operator: str) -> int:
    """Lock the sink's row until the transaction ends and return its epoch."""
    return recorded_epoch(connection, schema, job, operator, lock=True) or 0


def record_epoch(connection: sa.Connection, schema: str | None, job: str, operator: str, epoch: int) -> None:
    """Record an epoch, within the transaction that commits it."""
    table = progress_table(schema)
    connection.execute(
        sa.update(table).where(table.c.job == job, table.c.operator == operator).values(epoch=epoch)
    )
