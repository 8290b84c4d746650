"""Database tables as a sink, exactly once, through SQLAlchemy (`pip install "firesteel[database]"` and a driver).

There are two ways for an epoch's rows to become visible at once:

- `staged` (every database): the writers put their rows into a staging table beside the target. The committer moves
  the rows of the epoch into the target, records the epoch in the table `firesteel_progress` and clears the staging
  table, all in one transaction. A recorded epoch is never applied again.
- `prepared` (PostgreSQL): the writers write into the target itself, each in a transaction that it prepares
  (`PREPARE TRANSACTION`). The committer commits the prepared transactions.
"""

from firesteel.connectors.sql.sink import SqlSink

__all__ = ["SqlSink"]
