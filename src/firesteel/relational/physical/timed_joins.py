"""Joins that end with time, so that their rows are forgotten: within an interval of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types.temporal import is_rowtime
from firesteel.functions.columns import joins
from firesteel.relational.expressions import InputRef
from firesteel.relational.logical import joins as logical
from firesteel.relational.logical.joins import equality
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.joins import AnyJoin, equal_columns, regular_join
from firesteel.relational.physical.node import Changes, PhysicalNode, Shown
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.rules.aggregate_windows import windows_of
from firesteel.relational.rules.intervals import Interval, interval_of
from firesteel.relational.rules.substitution import conjuncts


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


def join_node(
    node: logical.Join, left: PhysicalNode, right: PhysicalNode, options: PlanOptions
) -> PhysicalNode:
    """Return the join of two planned sides, behind the exchanges that it needs.

    Raises ProgramError for intervals of time attributes of two types, and of processing time beside event time.
    """
    interval = None if options.batch else interval_of(node)
    if interval is not None:
        return _interval_join(node, left, right, interval)
    if not options.batch and is_window_join(node):
        raise UnsupportedError("is not supported yet in STREAMING mode", who="Window join")
    return regular_join(node, left, right, options)


def is_window_join(node: logical.Join) -> bool:
    """Return whether a join is one of equal windows."""
    left, right = windows_of(node.left), windows_of(node.right)
    if left is None or right is None:
        return False
    width = len(node.left.row.fields)
    equal = {
        (left.parts.get(found.left.index), right.parts.get(found.right.index))
        for found in (equality(part, width) for part in conjuncts(node.condition))
        if found is not None and isinstance(found.left, InputRef) and isinstance(found.right, InputRef)
    }
    return {("START", "START"), ("END", "END")} <= equal


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
