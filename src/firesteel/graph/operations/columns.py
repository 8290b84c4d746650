"""Operations on columns: those of tables and SQL. What each computes is data of `firesteel.functions.columns`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.functions.columns.bridges import ColumnsToRows, RowsToColumns
from firesteel.functions.columns.changelogs import FromChangelog, ToChangelog
from firesteel.functions.columns.correlates import Correlate
from firesteel.functions.columns.endpoints import ColumnSink, ColumnSource
from firesteel.functions.columns.normalizing import Normalization
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.python_functions import PythonCalc
from firesteel.functions.columns.ranks import FirstRow, Rank
from firesteel.functions.columns.sinks import Constraints, Materialization
from firesteel.functions.columns.sorting import Limit, Sort, TemporalSort, Top
from firesteel.functions.columns.windows import WatermarkAssignment
from firesteel.graph.checks import require
from firesteel.graph.operations.endpoints import SinkOp, SourceOp
from firesteel.graph.operations.operation import Operation


@dataclass(frozen=True, eq=False)
class ColumnSourceOp(SourceOp):
    """Reads a columnar source.

    With `assignment` each split has a watermark, and the source's is the lowest of them; otherwise rows get their times
    from a later operation. `program` computes the columns that the assignment is about, of those that are read (None:
    they are read).
    """

    assignment: WatermarkAssignment | None = None
    program: Program | None = None

    def check(self, who: str) -> None:
        """Require a ColumnSource."""
        require(self.source, (ColumnSource,), who, "subclass ColumnSource")


@dataclass(frozen=True, eq=False)
class ColumnSinkOp(SinkOp):
    """Writes columns to a sink."""

    def check(self, who: str) -> None:
        """Require a ColumnSink."""
        require(self.sink, (ColumnSink,), who, "subclass ColumnSink")


@dataclass(frozen=True, eq=False)
class ColumnOperation(Operation):
    """The common part of operations that take columns and give columns; their inputs are never sorted by key."""

    sorts_in_batch: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class RowsToColumnsOp(ColumnOperation):
    """Makes columns of records."""

    kind = "from_data_stream"

    bridge: RowsToColumns


@dataclass(frozen=True, eq=False)
class ColumnsToRowsOp(ColumnOperation):
    """Makes records of columns."""

    kind = "to_data_stream"

    bridge: ColumnsToRows


@dataclass(frozen=True, eq=False)
class CalcOp(ColumnOperation):
    """Filters rows and computes columns."""

    kind = "calc"
    keeps_nothing = True

    program: Program


@dataclass(frozen=True, eq=False)
class ExpandOp(ColumnOperation):
    """Computes all of several programs for each row."""

    kind = "expand"
    keeps_nothing = True

    programs: tuple[Program, ...]


@dataclass(frozen=True, eq=False)
class ReplicateOp(ColumnOperation):
    """Gives each row as often as its first column says, without that column."""

    kind = "replicate"
    keeps_nothing = True


@dataclass(frozen=True, eq=False)
class CorrelateOp(ColumnOperation):
    """Joins each row with the rows that a table function gives for it."""

    kind = "correlate"
    keeps_nothing = True

    correlate: Correlate


@dataclass(frozen=True, eq=False)
class PythonCalcOp(ColumnOperation):
    """Adds columns that functions of Python compute."""

    kind = "python_calc"
    keeps_nothing = True

    calc: PythonCalc


@dataclass(frozen=True, eq=False)
class WatermarkOp(ColumnOperation):
    """Generates watermarks of a column; in BATCH mode none before the input has ended."""

    kind = "watermark_assigner"

    assignment: WatermarkAssignment


@dataclass(frozen=True, eq=False)
class AggregateOp(ColumnOperation):
    """The common part of aggregates by key, in one phase or two."""

    at_once = True

    aggregate: GroupAggregate

    @property
    def meaning(self) -> str:
        """The keys and the calls."""
        return calls_text(self.aggregate.input, self.aggregate.keys, self.aggregate.aggregations)


@dataclass(frozen=True, eq=False)
class GroupAggregateOp(AggregateOp):
    """Aggregates by key; the input is partitioned by the keys."""

    kind = "group_aggregate"


@dataclass(frozen=True, eq=False)
class LocalAggregateOp(AggregateOp):
    """Gathers, before the exchange, what a `GlobalAggregateOp` completes; the columns of the keys keep their names.

    A `program` computes the rows that are aggregated, in BATCH mode (None: they come as they are).
    """

    kind = "local_group_aggregate"
    keeps_nothing = True

    program: Program | None = None


@dataclass(frozen=True, eq=False)
class GlobalAggregateOp(AggregateOp):
    """Completes what `LocalAggregateOp`s of the same aggregate have gathered."""

    kind = "global_group_aggregate"


@dataclass(frozen=True, eq=False)
class FirstRowOp(ColumnOperation):
    """Passes on the first row of each key by row time; the input is partitioned by the keys."""

    kind = "first_row"

    first: FirstRow

    @property
    def meaning(self) -> str:
        """The columns of the keys, and that of the time."""
        first = self.first
        return f"{calls_text(first.row, first.keys, ())}[{first.row.field_names[first.time]}]"


@dataclass(frozen=True, eq=False)
class RankOp(ColumnOperation):
    """Keeps the first rows of each partition of a table that changes; the input is partitioned by the keys."""

    kind = "rank"
    at_once = True

    rank: Rank

    @property
    def meaning(self) -> str:
        """The keys, the order, and which rows are kept."""
        rank = self.rank
        kept = "" if rank.retracts else f"[{rank.function} {rank.last}]"
        if rank.retracts and not rank.sets_aside and not rank.latest:
            kept = "[all rows together]"
        return f"{calls_text(rank.row, rank.keys, ())}{[tuple(key) for key in rank.order]}{kept}"


@dataclass(frozen=True, eq=False)
class ToChangelogOp(ColumnOperation):
    """Makes rows of changes, which say what has changed."""

    kind = "to-changelog"

    function: ToChangelog


@dataclass(frozen=True, eq=False)
class FromChangelogOp(ColumnOperation):
    """Makes changes of rows that say what has changed."""

    kind = "from-changelog"

    function: FromChangelog


@dataclass(frozen=True, eq=False)
class NormalizeOp(ColumnOperation):
    """Makes changes of a table of changes by key; the input is partitioned by the key."""

    kind = "normalize"

    normalization: Normalization

    @property
    def meaning(self) -> str:
        """The rows, the key and the condition."""
        spec = self.normalization
        condition = "" if spec.condition is None else f"[{spec.condition.columns[0].shown}]"
        return f"{calls_text(spec.row, range(len(spec.row.fields)), ())}{list(spec.key)}{condition}"


@dataclass(frozen=True, eq=False)
class SortOp(ColumnOperation):
    """Sorts all rows once the input has ended; runs in one subtask."""

    kind = "sort"
    at_once = True

    sort: Sort


@dataclass(frozen=True, eq=False)
class LimitOp(ColumnOperation):
    """Passes on some of the rows; runs in one subtask."""

    kind = "limit"

    limit: Limit


@dataclass(frozen=True, eq=False)
class TopOp(ColumnOperation):
    """Keeps the first rows of a table that changes; runs in one subtask."""

    kind = "sort_limit"

    top: Top

    @property
    def meaning(self) -> str:
        """Whether all rows are kept; if not, which ones."""
        top = self.top
        return "" if top.retracts else f"{[tuple(key) for key in top.order]}[{top.offset + top.fetch}]"


@dataclass(frozen=True, eq=False)
class TemporalSortOp(ColumnOperation):
    """Sorts rows by a time attribute as the watermark passes them; runs in one subtask."""

    kind = "temporal_sort"

    sort: TemporalSort

    @property
    def meaning(self) -> str:
        """The time attribute."""
        return f"[{self.sort.time}]"


@dataclass(frozen=True, eq=False)
class UpdateBeforeOp(ColumnOperation):
    """Leaves out the old rows of updates, or makes deletes of them."""

    kind = "update_before"
    keeps_nothing = True

    as_delete: bool


@dataclass(frozen=True, eq=False)
class ConstraintOp(ColumnOperation):
    """Passes on rows that fit the columns of a table."""

    kind = "constraint_enforcer"
    keeps_nothing = True

    constraints: Constraints


@dataclass(frozen=True, eq=False)
class MaterializeOp(ColumnOperation):
    """Gives changes by the primary key of a sink; the input is partitioned by it."""

    kind = "sink_materializer"

    materialization: Materialization

    @property
    def meaning(self) -> str:
        """The keys, and which rows of a key are kept."""
        spec = self.materialization
        return f"{spec.key}{spec.upsert_key}[{spec.conflict}]"


def calls_text(row: RowType, keys: Iterable[int], calls: Iterable[Aggregation]) -> str:
    """Return keys and calls over columns as text."""
    return f"[{columns_text(row, keys)}; {', '.join(call.shown for call in calls)}]"


def columns_text(row: RowType, places: Iterable[int]) -> str:
    """Return columns with their types as text."""
    return ", ".join(f"{row.fields[place].name} {row.fields[place].type}" for place in places)
