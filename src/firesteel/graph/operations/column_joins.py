"""Joins of columns. What each computes is data of `firesteel.functions.columns.joins`."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.functions.columns.joins import IntervalJoin, Join, Side, WindowJoin
from firesteel.graph.operations.columns import ColumnOperation, calls_text


@dataclass(frozen=True, eq=False)
class JoinOp(ColumnOperation):
    """Joins two inputs, which are partitioned by the keys."""

    kind = "join"

    join: Join

    @property
    def meaning(self) -> str:
        """The kind, the rows of both sides, and the keys."""
        return _joined(self.join)


@dataclass(frozen=True, eq=False)
class HashJoinOp(JoinOp):
    """Joins two inputs that end, in BATCH mode: the rows of the side `build` stay, and those of the other meet them.

    `first`: the rows that stay are delivered first. They may be in every subtask.
    """

    at_once = True

    build: Side
    first: bool = True

    @property
    def taken_first(self) -> int | None:
        """The side that stays, if it is delivered first."""
        return self.build if self.first else None


@dataclass(frozen=True, eq=False)
class IntervalJoinOp(ColumnOperation):
    """Joins the rows of two inputs whose times are near each other; the inputs are partitioned by the keys."""

    kind = "interval_join"

    interval: IntervalJoin

    @property
    def meaning(self) -> str:
        """The join, the interval and the time attributes."""
        interval = self.interval
        return f"{_joined(interval.join)}[{interval.lower} {interval.upper} {interval.times}]"


@dataclass(frozen=True, eq=False)
class WindowJoinOp(ColumnOperation):
    """Joins the rows of two inputs that have one window; the inputs are partitioned by the keys."""

    kind = "window_join"

    window: WindowJoin

    @property
    def meaning(self) -> str:
        """The join and the windows."""
        window = self.window
        return f"{_joined(window.join)}[{window.starts} {window.ends} {window.zone}]"


def _joined(join: Join) -> str:
    """Return a join as text."""
    sides = (
        calls_text(row, range(len(row.fields)), ()) + str(list(keys))
        for row, keys in zip(join.sides, join.keys, strict=True)
    )
    return f"[{join.kind}]{''.join(sides)}"
