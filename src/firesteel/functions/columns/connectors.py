"""How a table finds its connector: factories by the value of its option 'connector'.

Write your own: subclass `TableConnector`, and register it with `register` or as an entry point of the group
`firesteel.table.connectors` in your package.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import LogicalType, RowType
from firesteel.common.logical_types.logical_type import escaped_identifier
from firesteel.functions.columns.endpoints import ColumnSink, ColumnSource
from firesteel.functions.columns.lookups import LookupCalls, LookupTable


@dataclass(frozen=True)
class ChangelogMode:
    """The kinds of changes that a relation has; `key` means that updates and deletes are found by the primary key.

    >>> ChangelogMode.inserts().append_only
    True
    """

    update_before: bool = False
    update_after: bool = False
    delete: bool = False

    @property
    def append_only(self) -> bool:
        """Whether there are inserts only."""
        return not (self.update_before or self.update_after or self.delete)

    @staticmethod
    def inserts() -> ChangelogMode:
        """Return the mode of relations that only grow."""
        return ChangelogMode()

    @staticmethod
    def upserts() -> ChangelogMode:
        """Return the mode in which the new row alone comes for an update."""
        return ChangelogMode(update_after=True, delete=True)

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode with both rows of an update."""
        return ChangelogMode(update_before=True, update_after=True, delete=True)


@dataclass(frozen=True)
class TableDistribution:
    """How a table's rows are in buckets, by the values of `keys` if there are any (Flink: TableDistribution).

    `kind` is None where that is the connector's affair, `buckets` where their number is.

    >>> str(TableDistribution("HASH", ("id",), 4)), str(TableDistribution(None, (), 3))
    ('DISTRIBUTED BY HASH(`id`) INTO 4 BUCKETS', 'DISTRIBUTED INTO 3 BUCKETS')
    """

    kind: Literal["HASH", "RANGE"] | None
    keys: tuple[str, ...]
    buckets: int | None = None

    def __str__(self) -> str:
        by = f"BY {self.kind or ''}({', '.join(map(escaped_identifier, self.keys))})" if self.keys else None
        into = None if self.buckets is None else f"INTO {self.buckets} BUCKETS"
        return " ".join(filter(None, ("DISTRIBUTED", by, into)))


@dataclass(frozen=True)
class TableRequest:
    """A table that needs its connector.

    `row` has the physical columns and then those of `metadata`, in its order, with the names that the table gives them.
    `metadata` has the connector's keys, with the types of these columns. `options` are those of WITH without
    'connector'. `bounded` is whether the job runs in BATCH mode. `who` names the table in errors; `zone` is the
    session's time zone. Only connectors with `buckets` are asked for a sink of a table with a `distribution`.
    """

    who: str
    name: str
    row: RowType
    metadata: Mapping[str, LogicalType]
    primary_key: tuple[str, ...] | None
    partition_keys: tuple[str, ...]
    options: Mapping[str, str]
    bounded: bool
    zone: str = "UTC"
    distribution: TableDistribution | None = None


@dataclass(frozen=True)
class TableSource:
    """A source whose rows are those of the request, physical columns before metadata."""

    source: ColumnSource
    mode: ChangelogMode = ChangelogMode()


@dataclass(frozen=True)
class TableSink:
    """A sink that takes the rows of the request, and changes of `mode`.

    One that `adapts` wants no other kinds of changes than there are: of a query with inserts only, it gets inserts, and
    no updates by key. `parallelism` is that of its subtasks (None: that of the query). Rows with equal values in the
    columns `distribution`, if there are any, go to one subtask. `name` is what the job calls it (None: as the table).
    """

    sink: ColumnSink
    mode: ChangelogMode = ChangelogMode()
    adapts: bool = False
    parallelism: int | None = None
    distribution: tuple[str, ...] = ()
    name: str | None = None

    def mode_for(self, given: ChangelogMode) -> ChangelogMode:
        """Return the kinds of changes that the sink takes of a query that has `given`.

        >>> TableSink(None, ChangelogMode.all(), adapts=True).mode_for(ChangelogMode.inserts()).append_only
        True
        """
        if not self.adapts:
            return self.mode
        return ChangelogMode(
            given.update_before and self.mode.update_before,
            given.update_after and self.mode.update_after,
            given.delete and self.mode.delete,
        )


class KnownOption(Protocol):
    """What the documentation says of an option: its key, what its values are, and what it means."""

    @property
    def key(self) -> str:
        """The key."""

    @property
    def what(self) -> str:
        """What its values are."""

    @property
    def about(self) -> str:
        """What it means, in Markdown."""


class TableConnector(ABC):
    """Makes the source or the sink of a table from its options.

    Both raise ConfigurationError for an option that is unknown, missing or wrong, with the option's name.
    """

    name: ClassVar[str]
    """The value of the option 'connector'."""

    options: ClassVar[Sequence[KnownOption]] = ()
    """The options that it has, in the order in which they are shown."""

    readable_metadata: ClassVar[Mapping[str, LogicalType]] = {}
    """The metadata that a source of this connector has, with its types."""

    writable_metadata: ClassVar[Mapping[str, LogicalType]] = {}
    """The metadata that a sink of this connector takes, with its types."""

    buckets: ClassVar[bool] = False
    """Whether a sink of this connector can have buckets (Flink: SupportsBucketing)."""

    def reads_fields(self, options: Mapping[str, str]) -> bool:
        """Return whether sources of tables with these options have `ColumnSource.with_fields`."""
        del options
        return False

    def source(self, table: TableRequest) -> TableSource:
        """Return the source of a table."""
        raise UnsupportedError(f"cannot be read: connector {self.name!r} is a sink", who=table.who)

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink of a table."""
        raise UnsupportedError(f"cannot be written: connector {self.name!r} is a source", who=table.who)

    def lookup(self, table: TableRequest, keys: tuple[str, ...], calls: LookupCalls) -> LookupTable | None:
        """Return how rows of a table are looked up by these columns; None if they cannot be."""
        return None

    def truncate(self, table: TableRequest) -> None:
        """Remove all rows of a table, at once."""
        raise UnsupportedError(
            f"cannot be truncated: connector {self.name!r} does not do that", who=table.who
        )
