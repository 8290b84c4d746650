"""Tables of databases as a sink, exactly once, over SQLAlchemy (`pip install "firesteel[sql]"` and a driver).

There are two ways for an epoch's rows to become visible at once:

- `staged` (every database): the writers put their rows into a staging table beside the target. The committer moves
  the rows of the epoch into the target, records the epoch in the table `firesteel_progress` and removes what is
  staged, all in one transaction. An epoch that is recorded is never applied again.
- `prepared` (PostgreSQL): the writers write into the target itself, each in a transaction that it prepares
  (`PREPARE TRANSACTION`); the committer commits what is prepared.
"""

from firesteel.connectors.sql.sink import SqlSink

__all__ = ["SqlSink"]
