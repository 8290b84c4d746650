"""The settings of a SQL sink."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from firesteel.connectors.sql.address import Address

Way = Literal["staged", "prepared"]


@dataclass(frozen=True, slots=True)
class SqlSettings:
    """Everything about a SQL sink; picklable, and without secrets. Times are milliseconds.

    A transaction that fails is tried again for `retry_ms`, at most `retries` times (None: as often as there is time).
    """

    address: Address
    """The database: a URL of SQLAlchemy with `${VARIABLE}` for its secrets, or a function that returns one."""

    table: str
    """The table, which must exist."""

    schema: str | None
    """The schema of the database that the table is in, if it is not the usual one."""

    columns: tuple[str, ...]
    """The columns that are written. Without them, those of the stream's row type."""

    key: tuple[str, ...]
    """The columns by which rows are updated and deleted. Without them every row is inserted."""

    way: Way
    """How exactly once is reached: `"staged"` or `"prepared"`, [the two ways](databases.md#two-ways)."""

    batch_rows: int
    """How many rows travel to the database at once."""

    retry_ms: int
    """How long failures that may pass, such as a server that restarts, are tried again (milliseconds)."""

    retries: int | None = None
    """How often they are, at most. Without it, as often as there is time."""

    @property
    def who(self) -> str:
        """The sink and its table, for errors."""
        return f"SqlSink, table {self.target!r},"

    @property
    def requirement(self) -> str:
        """What is not so when a statement fails."""
        return "requires a database that accepts what it writes"

    @property
    def target(self) -> str:
        """The table with its schema."""
        return f"{self.schema}.{self.table}" if self.schema else self.table


def scope_of(job_id: str, operator_id: str) -> str:
    """Return a short name for one sink of one job: 16 hexadecimal digits."""
    return hashlib.blake2b(f"{job_id}\0{operator_id}".encode(), digest_size=8).hexdigest()
