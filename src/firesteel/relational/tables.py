"""Tables as a plan sees them: columns with types, keys, watermarks, and the options of their connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from firesteel.common.logical_types import Field, LogicalType, ObjectIdentifier, RowType
from firesteel.functions.columns.connectors import ChangelogMode, TableDistribution, TableSource
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.times import is_source_watermark


@dataclass(frozen=True)
class PhysicalColumn:
    """A column that the connector reads and writes."""

    name: str
    type: LogicalType
    comment: str | None = None


@dataclass(frozen=True)
class MetadataColumn:
    """A column of what the connector knows about a record; `key` is the connector's name of it.

    A `virtual` one is not written.
    """

    name: str
    type: LogicalType
    key: str
    virtual: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class ComputedColumn:
    """A column that is computed when the table is read, of the table's physical and metadata columns.

    The expression refers to the places of these two kinds alone, in their order.
    """

    name: str
    type: LogicalType
    expression: Expression
    comment: str | None = None


TableColumn = PhysicalColumn | MetadataColumn | ComputedColumn


class WatermarkSpec(NamedTuple):
    """`column` is the name of the time attribute, `expression` the watermark, over all columns of the table."""

    column: str
    expression: Expression

    @property
    def of_source(self) -> bool:
        """Whether the source makes the watermark itself."""
        return is_source_watermark(self.expression)


@dataclass(frozen=True)
class ResolvedTable:
    """A table of the catalog, all names and types of which are known.

    The connector is found by `options`. Those of a table that a program made from a stream are empty, and `origin` says
    which stream it is (the number of a node of the graph), `changes` which changes its records are. A table of what a
    program has in memory has its `source`. `statistics` is what the catalog knows of the rows, and of the columns of
    `read`.
    """

    identifier: ObjectIdentifier
    columns: tuple[TableColumn, ...]
    watermark: WatermarkSpec | None = None
    primary_key: tuple[str, ...] | None = None
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    distribution: TableDistribution | None = None
    origin: int | None = None
    changes: ChangelogMode = field(default_factory=ChangelogMode)
    source: TableSource | None = None
    statistics: TableStatistics | None = field(default=None, compare=False, repr=False)

    @property
    def row(self) -> RowType:
        """Return the type of the table's rows, all columns included."""
        return RowType(tuple(Field(column.name, column.type) for column in self.columns), nullable=False)

    @property
    def read(self) -> tuple[PhysicalColumn | MetadataColumn, ...]:
        """Return the columns that the connector delivers."""
        return tuple(column for column in self.columns if not isinstance(column, ComputedColumn))

    @property
    def written(self) -> tuple[PhysicalColumn | MetadataColumn, ...]:
        """Return the columns that INSERT writes."""
        return tuple(
            column for column in self.read if not (isinstance(column, MetadataColumn) and column.virtual)
        )


def delivery_order(columns: Sequence[PhysicalColumn | MetadataColumn]) -> tuple[int, ...]:
    """Return the places of columns in the order in which connectors have them: metadata last.

    >>> from firesteel.common.logical_types import STRING
    >>> delivery_order((MetadataColumn("file", STRING, "file.name"), PhysicalColumn("line", STRING)))
    (1, 0)
    """
    return tuple(
        sorted(range(len(columns)), key=lambda place: (isinstance(columns[place], MetadataColumn), place))
    )


def shown_name(table: ResolvedTable) -> str:
    """Return a table's full name as Flink's plans and errors have it."""
    identifier = table.identifier
    return ".".join(filter(None, (identifier.catalog, identifier.database, identifier.name)))
