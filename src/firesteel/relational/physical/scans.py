"""The node that reads a table, and what its source need not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from firesteel.common.logical_types import Field, RowType
from firesteel.functions.columns.connectors import ChangelogMode, TableSource
from firesteel.functions.columns.pushdowns import Partition
from firesteel.functions.columns.statistics import TableStatistics, merged
from firesteel.relational.expressions import Expression
from firesteel.relational.logical.printing import expression_text
from firesteel.relational.paths import Path, names_at, read_at
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, Updates
from firesteel.relational.physical.nodes import DropUpdateBefore
from firesteel.relational.physical.source_conditions import PartitionFilter, condition_of
from firesteel.relational.rules.substitution import all_of, refs
from firesteel.relational.tables import ResolvedTable


@dataclass(frozen=True)
class TableSourceScan(PhysicalNode):
    """The rows of a table; `columns` are places in `ResolvedTable.read`. Without `source` it is a stream's.

    `base` is the scan of all columns that this one is a projection of. With `paths`, which have places in `columns`
    first, only those fields of rows are read. Only `partitions` are read (None: all), `found` are those that were there
    when the plan was made. The source may leave out rows for which one of `filters`, over `ResolvedTable.read`, is not
    TRUE; whoever reads the scan checks them. It may stop when it has read `limit` rows. One subtask reads it if it is
    `single`.
    """

    table: ResolvedTable
    columns: tuple[int, ...]
    source: TableSource | None = field(compare=False, repr=False)
    base: TableSourceScan | None = field(default=None, compare=False, repr=False)
    paths: tuple[Path, ...] = ()
    partitions: PartitionFilter | None = None
    found: tuple[Partition, ...] = field(default=(), compare=False, repr=False)
    filters: tuple[Expression, ...] = ()
    limit: int | None = None
    single: bool = False

    @property
    def short_name(self) -> str:
        """Return the name of the table."""
        return self.name if self.source is None else self.table.identifier.name

    @property
    def whole(self) -> TableSourceScan | None:
        """Return the scan of all columns; None for a stream's."""
        return self.base or (None if self.source is None else self)

    @cached_property
    def statistics(self) -> TableStatistics | None:
        """Return what the catalog and the source know of what is read; None if it is nothing, and for a stream's.

        What was counted goes before what the source says, but for the number of rows that conditions leave.
        """
        if self.source is None:
            return None
        found, kept = self.source.source.statistics(), self.table.statistics
        if kept is None or self.paths:
            return found
        columns = tuple(kept.columns[place] for place in self.columns) if kept.columns else ()
        if found is None:
            rows = kept.rows if self.limit is None else min(kept.rows, self.limit)
            return replace(kept, rows=rows, columns=columns)
        columns = merged(columns, found.columns)
        narrowed = self.partitions is not None or bool(self.filters) or self.limit is not None
        return replace(found, rows=found.rows if narrowed else kept.rows, columns=columns)

    def narrowed(self, places: tuple[int, ...]) -> TableSourceScan | None:
        """Return a scan of the columns at some places; None if they are all, or the source always reads all."""
        if self.source is None or not places or len(places) == len(self.columns):
            return None
        source = self.source.source.projected(places)
        if source is None:
            return None
        columns = tuple(self.columns[place] for place in places)
        return replace(self, columns=columns, source=replace(self.source, source=source), base=self.whole)

    def with_fields(self, paths: tuple[Path, ...]) -> TableSourceScan | None:
        """Return a scan of what is at paths of the columns; None if the source reads whole columns."""
        source = None if self.source is None else self.source.source.with_fields(paths)
        if self.source is None or source is None:
            return None
        return replace(self, paths=paths, source=replace(self.source, source=source), base=self.whole)

    def with_partitions(self, partitions: PartitionFilter) -> TableSourceScan | None:
        """Return this scan of all columns with fewer partitions; None if the source has none."""
        assert self.base is None
        if self.source is None:
            return None
        source = self.source.source.partitioned(partitions.choice(self.table))
        if source is None:
            return None
        found = tuple(source.partitions)
        return replace(self, partitions=partitions, found=found, source=replace(self.source, source=source))

    def with_filters(self, filters: tuple[Expression, ...]) -> TableSourceScan | None:
        """Return this scan of all columns with fewer rows; None if the source would leave out none."""
        assert self.base is None
        condition = condition_of(all_of(filters), self.table)
        source = None if self.source is None or condition is None else self.source.source.filtered(condition)
        if self.source is None or source is None:
            return None
        return replace(self, filters=filters, source=replace(self.source, source=source))

    def with_limit(self, rows: int) -> TableSourceScan | None:
        """Return the scan of some of the rows; None if the source reads all, or has not inserts alone."""
        if self.source is None or not self.source.mode.append_only:
            return None
        source = self.source.source.limited(rows)
        if source is None:
            return None
        base = None if self.base is None else self.base.with_limit(rows)
        return replace(self, limit=rows, source=replace(self.source, source=source), base=base)

    def with_columns_of(self, other: TableSourceScan) -> TableSourceScan | None:
        """Return this scan of all columns with those of another of the table; None if the source cannot do that."""
        if other.paths:
            return self.with_fields(other.paths)
        if self.columns == other.columns:
            return self
        return self.narrowed(tuple(self.columns.index(place) for place in other.columns))

    def like(self, other: TableSourceScan) -> TableSourceScan | None:
        """Return this scan of all there is with the columns and rows of another of the table; None if that fails."""
        made: TableSourceScan | None = self
        if made is not None and other.partitions is not None:
            made = made.with_partitions(other.partitions)
        if made is not None and other.filters:
            made = made.with_filters(other.filters)
        if made is not None:
            made = made.with_columns_of(other)
        if made is not None and other.limit is not None:
            made = made.with_limit(other.limit)
        if made is not None:
            made = replace(made, single=other.single)
        return made if made == other else None

    @property
    def read(self) -> tuple[Expression, ...]:
        """Return the columns that are read over those of the table."""
        row = self._whole
        if not self.paths:
            return refs(row, self.columns)
        return tuple(read_at(row, (self.columns[place], *fields)) for place, *fields in self.paths)

    @property
    def row(self) -> RowType:
        """Return the type of the columns that are read."""
        whole = RowType(tuple(self._whole.fields[place] for place in self.columns), nullable=False)
        if not self.paths:
            return whole
        types = [read_at(whole, path).type for path in self.paths]
        return RowType(tuple(map(Field, names_at(whole, self.paths), types)), nullable=False)

    @cached_property
    def _whole(self) -> RowType:
        """The columns of the table that can be read."""
        return RowType(tuple(Field(column.name, column.type) for column in self.table.read), nullable=False)

    @property
    def upsert_keys(self) -> Keys:
        """Return the primary key, if all of its columns are read."""
        paths = self.paths or tuple((place,) for place in range(len(self.columns)))
        names = {
            self.table.read[self.columns[path[0]]].name: at for at, path in enumerate(paths) if not path[1:]
        }
        key = self.table.primary_key
        if key is None or not set(key) <= names.keys():
            return frozenset()
        return frozenset([frozenset(names[name] for name in key)])

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the table's name, with what is read of it if that is not all, and the fields."""
        identifier = self.table.identifier
        parts = [identifier.catalog, identifier.database, identifier.name]
        names = self.row.field_names
        if self.partitions is not None:
            parts.append(f"partitions=[{', '.join(map(_partition_text, self.found))}]")
        if self.filters:
            parts.append(f"filter=[{self._filter_text}]")
        if self.paths or len(self.columns) < len(self.table.read):
            parts.append(f"project=[{', '.join(names)}]")
        if self.limit is not None:
            parts.append(f"limit=[{self.limit}]")
        yield "table", f"[{', '.join(filter(None, parts))}]"
        yield "fields", ", ".join(names)

    @property
    def choice(self) -> str:
        """Return, as text, which rows of the table are read, whatever columns of them; empty if all rows are.

        Unlike the node's text it does not depend on the partitions that there are.
        """
        names = [column.name for column in self.table.read]
        parts = [] if self.partitions is None else [expression_text(self.partitions.condition, names)]
        parts += [self._filter_text] if self.filters else []
        return " | ".join(parts)

    @property
    def _filter_text(self) -> str:
        names = [column.name for column in self.table.read]
        first, *others = (expression_text(part, names) for part in self.filters)
        for other in others:
            first = f"and({first}, {other})"
        return first

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return those of the source."""
        return Changes(self._given.update_after, self._given.delete)

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> PhysicalNode:
        """Return the node with the source's mode, below one that leaves out old rows if they are not needed."""
        made = replace(self, mode=self._given)
        drops = required is Updates.AFTER and self._given.update_before
        return DropUpdateBefore.of(made, as_delete=False) if drops else made

    @property
    def _given(self) -> ChangelogMode:
        return self.table.changes if self.source is None else self.source.mode


def _partition_text(partition: Partition) -> str:
    values = (f"{name}={'null' if value is None else value}" for name, value in partition.items())
    return f"{{{', '.join(values)}}}"
