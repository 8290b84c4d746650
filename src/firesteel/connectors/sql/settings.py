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
    table: str
    schema: str | None
    columns: tuple[str, ...]
    key: tuple[str, ...]
    way: Way
    batch_rows: int
    retry_ms: int
    retries: int | None = None

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
