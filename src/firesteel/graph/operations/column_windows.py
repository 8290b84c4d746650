"""Operations on columns that look at windows of rows: those of time, and those of `OVER`."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.ranks import WindowRank
from firesteel.functions.columns.row_patterns import MatchRecognize
from firesteel.functions.columns.windows import (
    OverAggregate,
    OverPartitions,
    WindowAggregate,
    WindowAssignment,
    WindowTable,
)
from firesteel.graph.operations.columns import ColumnOperation, calls_text


@dataclass(frozen=True, eq=False)
class WindowedOp(ColumnOperation):
    """The common part of aggregates by key and window, in one phase or two."""

    aggregate: WindowAggregate

    @property
    def meaning(self) -> str:
        """The keys, the calls and the windows."""
        calls = calls_text(self.aggregate.input, self.aggregate.keys, self.aggregate.aggregations)
        return f"{calls}{_windows(self.aggregate.input, self.aggregate.window)}"


@dataclass(frozen=True, eq=False)
class WindowAggregateOp(WindowedOp):
    """Aggregates by key and window; the input is partitioned by the keys."""

    kind = "window_aggregate"


@dataclass(frozen=True, eq=False)
class LocalWindowAggregateOp(WindowedOp):
    """Gathers, before the exchange, what a `GlobalWindowAggregateOp` completes; the keys' columns keep their names."""

    kind = "local_window_aggregate"
    keeps_nothing = True


@dataclass(frozen=True, eq=False)
class GlobalWindowAggregateOp(WindowedOp):
    """Completes what `LocalWindowAggregateOp`s of the same aggregate have gathered."""

    kind = "global_window_aggregate"


@dataclass(frozen=True, eq=False)
class WindowTableOp(ColumnOperation):
    """Gives each row once for each of its windows; the input of sessions is partitioned by their columns."""

    kind = "window_table_function"

    table: WindowTable

    @property
    def meaning(self) -> str:
        """The columns that partition the rows, and the windows."""
        partition = calls_text(self.table.input, self.table.partition, ())
        return f"{partition}{_windows(self.table.input, self.table.window)}"


@dataclass(frozen=True, eq=False)
class OverAggregateOp(ColumnOperation):
    """Appends aggregates over earlier rows; the input is partitioned by the keys."""

    kind = "over_aggregate"

    over: OverAggregate

    @property
    def meaning(self) -> str:
        """The keys, the order, the frame and the calls."""
        calls = calls_text(self.over.input, (*self.over.keys, self.over.time), self.over.aggregations)
        return f"{calls}[{'rows' if self.over.frame.rows else 'range'} {self.over.frame.lower}]"


@dataclass(frozen=True, eq=False)
class MatchRecognizeOp(ColumnOperation):
    """Looks for a pattern of rows; the input is partitioned by the keys."""

    kind = "match_recognize"

    match: MatchRecognize

    @property
    def meaning(self) -> str:
        """The keys, the order, the pattern, and what is kept of rows."""
        match, pattern = self.match, self.match.pattern
        columns = calls_text(match.input, (*match.keys, match.time), ())
        kept = [formula.shown for formula in match.events.columns[: match.kept]]
        rest = (pattern.after, pattern.skips_to, pattern.within, [tuple(key) for key in match.order])
        return f"{columns}[{pattern}]{rest}{kept}"


@dataclass(frozen=True, eq=False)
class OverPartitionsOp(ColumnOperation):
    """Appends calls over frames of whole partitions, by which the input is partitioned."""

    kind = "over_partitions"
    at_once = True

    over: OverPartitions

    @property
    def meaning(self) -> str:
        """The keys, the order, the calls and their frames."""
        over = self.over
        calls = calls_text(over.input, over.keys, [call for call, _ in over.calls])
        frames = [(frame.rows, frame.lower, frame.upper) for _, frame in over.calls]
        return f"{calls}{[tuple(key) for key in over.order]}{frames}"


@dataclass(frozen=True, eq=False)
class WindowRankOp(ColumnOperation):
    """Keeps the first rows of each partition of a window; the input is partitioned by the other keys."""

    kind = "window_rank"
    at_once = True

    window: WindowRank

    @property
    def meaning(self) -> str:
        """The keys, the order, which rows are kept, and the windows."""
        window, rank = self.window, self.window.rank
        kept = f"[{rank.function} {rank.last}][{window.start} {window.end} {window.zone}]"
        return f"{calls_text(rank.row, rank.keys, ())}{[tuple(key) for key in rank.order]}{kept}"


def _windows(row: RowType, window: WindowAssignment) -> str:
    """Return windows over columns as text."""
    shape = window.shape
    names = [row.field_names[place] for place in (window.time, window.start, window.end) if place is not None]
    size = f"{shape.kind} {shape.size} {shape.slide} {shape.offset} ms"
    return f"[{size} {' '.join(names)} {'event' if window.event_time else 'processing'} {window.zone}]"
