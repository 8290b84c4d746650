"""Joins that end with time, so that their rows are forgotten: within an interval of time, or of one window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types.temporal import is_proctime, is_rowtime
from firesteel.functions.columns import joins
from firesteel.functions.columns.windows import WindowAssignment
from firesteel.relational.logical import joins as logical
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.joins import AnyJoin, equal_columns, regular_join
from firesteel.relational.physical.node import Changes, PhysicalNode, Shown
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.physical.window_texts import window_text
from firesteel.relational.physical.windows import carried
from firesteel.relational.rules.carried_windows import EqualWindows, attached, equal_windows
from firesteel.relational.rules.intervals import Interval, interval_of
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts


@dataclass(frozen=True)
class IntervalJoin(AnyJoin):
    """The join of rows whose times are near each other."""

    interval: Interval

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def state(self) -> str:
        """Return which rows are kept."""
        return "the rows of both sides within the interval"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the kind, the interval, the condition and the columns."""
        interval = self.interval
        bounds = {
            "isRowTime": str(interval.event_time).lower(),
            "leftLowerBound": interval.lower,
            "leftUpperBound": interval.upper,
            "leftTimeIndex": interval.left,
            "rightTimeIndex": interval.right,
        }
        yield "joinType", self.kind_text
        yield "windowBounds", ", ".join(f"{name}={value}" for name, value in bounds.items())
        yield "where", self.where(shown)
        yield "select", ", ".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return inserts only: rows without a partner come when they cannot find one any more."""
        return Changes()

    def interval_join(self, zone: str) -> joins.IntervalJoin:
        """Return what the operator does."""
        interval = self.interval
        times = (interval.left, interval.right) if interval.event_time else None
        return joins.IntervalJoin(self.join(zone), interval.lower, interval.upper, times)


@dataclass(frozen=True)
class WindowJoin(AnyJoin):
    """The join of rows that have one window; `windows` are those of both sides."""

    windows: tuple[WindowAssignment, WindowAssignment]

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def state(self) -> str:
        """Return which rows are kept."""
        return "the rows of open windows of both sides"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the windows, the kind, the condition besides the windows, and the columns."""
        for name, side, window in zip(("left", "right"), self.inputs, self.windows, strict=True):
            yield f"{name}Window", window_text(window, side.row.field_names)
        yield "joinType", self.kind_text
        yield "where", self.where(shown)
        yield "select", ", ".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return inserts only: the rows of a window come once."""
        return Changes()

    def window_join(self, zone: str) -> joins.WindowJoin:
        """Return what the operator does."""
        left, right = self.windows
        assert left.start is not None
        assert left.end is not None
        assert right.start is not None
        assert right.end is not None
        return joins.WindowJoin(self.join(zone), (left.start, right.start), (left.end, right.end), left.zone)


def join_node(
    node: logical.Join, left: PhysicalNode, right: PhysicalNode, options: PlanOptions
) -> PhysicalNode:
    """Return the join of two planned sides, behind the exchanges that it needs.

    Raises ProgramError for intervals of time attributes of two types, and of processing time beside event time.
    """
    interval = None if options.batch else interval_of(node)
    if interval is not None:
        return _interval_join(node, left, right, interval)
    windows = None if options.batch else equal_windows(node)
    if windows is not None:
        return _window_join(node, left, right, windows, options)
    return regular_join(node, left, right, options)


def _interval_join(
    node: logical.Join, left: PhysicalNode, right: PhysicalNode, interval: Interval
) -> PhysicalNode:
    if not interval.event_time:
        _require_no_event_time(left, right)
    keys, rest = equal_columns(interval.rest, len(left.row.fields))
    return IntervalJoin(
        Exchange(left, tuple(key[0] for key in keys)),
        Exchange(right, tuple(key[1] for key in keys)),
        node.kind,
        node.condition,
        keys,
        rest,
        node.row,
        interval,
    )


def _window_join(
    node: logical.Join,
    left: PhysicalNode,
    right: PhysicalNode,
    windows: EqualWindows,
    options: PlanOptions,
) -> PhysicalNode:
    if is_proctime(windows.left.time_type):
        raise UnsupportedError(
            "of processing time is not supported in STREAMING mode, as in Flink", who="Window join"
        )
    parts = [part for part in conjuncts(node.condition) if part not in windows.parts]
    keys, rest = equal_columns(parts, len(left.row.fields))
    return WindowJoin(
        Exchange(left, tuple(key[0] for key in keys)),
        Exchange(right, tuple(key[1] for key in keys)),
        node.kind,
        all_of(parts or [ALWAYS]),
        keys,
        rest,
        node.row,
        (
            carried(attached(windows.left), options),
            carried(attached(windows.right), options),
        ),
    )


def _require_no_event_time(*sides: PhysicalNode) -> None:
    """Refuse columns whose times the result would be behind."""
    for side in sides:
        for field in side.row.fields:
            if is_rowtime(field.type):
                raise ProgramError(
                    "with proctime attribute requires no event-time attributes are in the join inputs",
                    who="Interval join",
                    got=f"{field.name} {field.type.as_summary_string()}",
                    hint="leave the column out below the join, or cast it to TIMESTAMP",
                )
