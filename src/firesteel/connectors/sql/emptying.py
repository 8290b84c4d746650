"""Deleting all rows of a table."""

from __future__ import annotations

import sqlalchemy as sa

from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.sql.statements import target_table


def delete_all(settings: SqlSettings) -> None:
    """Delete all rows of the target, in one transaction (driver). Raises ConnectorError."""
    database = Database(settings)
    try:
        database.run(lambda connection, _: connection.execute(sa.delete(target_table(settings))))
    finally:
        database.close()
