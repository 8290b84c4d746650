"""Logical plans, built by hand, and a planner for them whose tables need no connectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from firesteel.common.logical_types import (
    STRING,
    BigIntType,
    BooleanType,
    Field,
    IntType,
    LogicalType,
    ObjectIdentifier,
    RowType,
    TimestampKind,
    TimestampType,
)
from firesteel.functions.columns.connectors import ChangelogMode, TableSink, TableSource
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSink, ColumnSource, ColumnWriter
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics
from firesteel.functions.sink import Committer, WriterContext
from firesteel.functions.source import Split
from firesteel.relational.expressions import AggregateCall, Call, Expression, InputRef, Literal
from firesteel.relational.logical.nodes import Aggregate, LogicalNode, Project, TableScan, Watermark
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.changelog import with_changelog_modes
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.planning import Connections, Planner
from firesteel.relational.rules import optimized
from firesteel.relational.tables import PhysicalColumn, ResolvedTable

BIG = BigIntType()
TS = TimestampType(3)
ROWTIME = TimestampType(3, TimestampKind.ROWTIME)


class NoSource(ColumnSource):
    """A source that is never read."""

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return []

    def projected(self, columns: tuple[int, ...]) -> ColumnSource:
        return self

    def with_fields(self, paths: tuple[tuple[int, ...], ...]) -> ColumnSource:
        return self

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        raise AssertionError


class Sized(NoSource):
    """A source that has so many rows; `columns` is what is known of its columns, if it is anything."""

    def __init__(self, rows: float, columns: Sequence[ColumnStatistics] = ()) -> None:
        self._rows = rows
        self._columns = tuple(columns)

    def projected(self, columns: tuple[int, ...]) -> ColumnSource:
        made = copy(self)
        made._columns = tuple(self._columns[place] for place in columns) if self._columns else ()
        return made

    def statistics(self) -> TableStatistics:
        return TableStatistics(self._rows, columns=self._columns)


class NoSink(ColumnSink):
    """A sink that is never written."""

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        raise AssertionError

    def create_committer(self) -> Committer:
        raise AssertionError


def table(name: str, columns: dict[str, LogicalType], **more: object) -> ResolvedTable:
    made = tuple(PhysicalColumn(column, kind) for column, kind in columns.items())
    return ResolvedTable(ObjectIdentifier("c", "d", name), made, **more)  # type: ignore[arg-type]


T = table("t", {"a": IntType(), "b": BIG, "c": STRING, "ts": TS})


def scan(given: ResolvedTable = T) -> TableScan:
    return TableScan(given)


def timed() -> Watermark:
    below = scan()
    fields = [field._replace(type=ROWTIME) if field.name == "ts" else field for field in below.row.fields]
    return Watermark(below, 3, InputRef(TS, 3), RowType(tuple(fields), nullable=False))


def ref(node: LogicalNode, place: int) -> InputRef:
    return InputRef(node.row.fields[place].type, place)


def greater(left: Expression, number: int) -> Call:
    return Call(BooleanType(), ">", (left, Literal(BIG, number)))


def project(node: LogicalNode, **columns: int | Expression) -> Project:
    expressions = tuple(ref(node, one) if isinstance(one, int) else one for one in columns.values())
    return Project(node, expressions, tuple(columns))


def count(*arguments: int, **more: object) -> AggregateCall:
    return AggregateCall("COUNT", arguments, BigIntType(nullable=False), **more)  # type: ignore[arg-type]


def grouped(node: LogicalNode, keys: tuple[int, ...], **calls: AggregateCall) -> Aggregate:
    fields = [node.row.fields[key] for key in keys]
    fields += [Field(name, call.type) for name, call in calls.items()]
    return Aggregate(node, keys, tuple(calls.values()), RowType(tuple(fields), nullable=False))


INSERTS = ChangelogMode()


def sized(
    rows: Mapping[str, float], sink: ChangelogMode = INSERTS, values: Mapping[str, float] | None = None
) -> Connections:
    """Return how tables are connected of which some have so many rows, by their names.

    `values` are how many values columns have, by the names of columns of any table.
    """

    def source(table: ResolvedTable) -> TableSource:
        name = table.identifier.name
        known = [ColumnStatistics((values or {}).get(column.name)) for column in table.read]
        return TableSource(Sized(rows[name], known if values else ()) if name in rows else NoSource())

    return Connections(source, connections(sink).sink)


def connections(sink: ChangelogMode = INSERTS, source: ChangelogMode = INSERTS) -> Connections:
    return Connections(lambda table: TableSource(NoSource(), source), lambda table: TableSink(NoSink(), sink))


def planned(plan: LogicalNode, connected: Connections | None = None, **options: object) -> str:
    """Return the optimized physical plan of a logical one as text, with its changelog modes."""
    given = PlanOptions(**options)  # type: ignore[arg-type]
    physical = Planner(given, connected or connections()).plan(optimized(plan, given))
    return forest(with_changelog_modes([physical]), modes=True)
