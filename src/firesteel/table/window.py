"""Windows of tables, with the names of pyflink.table.window.

>>> from firesteel.table.expressions import CURRENT_ROW, col, lit, row_interval
>>> hours = Tumble.over(lit(1).hours).on(col("ts")).alias("w")
>>> last_three = Over.partition_by(col("user")).order_by(col("ts")).preceding(row_interval(2)).alias("o")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site, require_text
from firesteel.table.expressing.tree import Tree
from firesteel.table.expression import Expression

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


@dataclass(frozen=True)
class GroupWindow:
    """A window that groups rows: its kind in SQL, its time, its lengths in SQL's order, and its name."""

    kind: str
    time: Tree
    lengths: tuple[Tree, ...]
    name: str


@dataclass(frozen=True)
class _Sized:
    """A window whose time is not known yet."""

    kind: str
    lengths: tuple[Tree, ...]

    def on(self, time_field: Expression[Any]) -> _Timed:
        """Say by which time attribute rows belong to windows."""
        return _Timed(self.kind, self.lengths, _tree(time_field, "on"))


@dataclass(frozen=True)
class _Timed:
    """A window that has no name yet."""

    kind: str
    lengths: tuple[Tree, ...]
    time: Tree

    def alias(self, alias: str) -> GroupWindow:
        """Give the window the name by which expressions speak of it."""
        return GroupWindow(self.kind, self.time, self.lengths, require_text("alias", alias))


@dataclass(frozen=True)
class _Slides:
    """A sliding window whose slide is not known yet."""

    size: Tree

    def every(self, slide: Expression[Any]) -> _Sized:
        """Say how long after each other windows begin."""
        return _Sized("HOP", (_tree(slide, "every"), self.size))


class Tumble:
    """Windows of one length, one after the other."""

    @classmethod
    def over(cls, size: Expression[Any]) -> _Sized:
        """Begin with the length: an interval, or a number of rows."""
        return _Sized("TUMBLE", (_tree(size, "over"),))


class Slide:
    """Windows of one length that overlap, or leave gaps."""

    @classmethod
    def over(cls, size: Expression[Any]) -> _Slides:
        """Begin with the length: an interval, or a number of rows."""
        return _Slides(_tree(size, "over"))


class Session:
    """Windows of rows between which there is no longer gap."""

    @classmethod
    def with_gap(cls, gap: Expression[Any]) -> _Sized:
        """Begin with the gap: an interval."""
        return _Sized("SESSION", (_tree(gap, "with_gap"),))


@dataclass(frozen=True)
class OverWindow:
    """The rows around each row; `preceding` and `following` are None where nothing is said."""

    partition: tuple[Tree, ...] = ()
    order: Tree | None = None
    preceding: Tree | None = None
    following: Tree | None = None
    name: str = ""


class Over:
    """Windows of the rows around each row."""

    @classmethod
    def order_by(cls, order_by: Expression[Any]) -> _Ordered:
        """Begin with the order, over all rows."""
        return _Partitioned(()).order_by(order_by)

    @classmethod
    def partition_by(cls, *partition_by: Expression[Any]) -> _Partitioned:
        """Begin with what rows of one window have in common."""
        return _Partitioned(partition_by)


class _Partitioned:
    """A window whose order is not known yet."""

    def __init__(self, keys: Sequence[Expression[Any]]) -> None:
        self._keys = tuple(_tree(key, "partition_by") for key in keys)

    def order_by(self, order_by: Expression[Any]) -> _Ordered:
        """Say in which order rows are; in streaming mode by a time attribute."""
        return _Ordered(OverWindow(self._keys, _tree(order_by, "order_by")))


class _Framed:
    """A window that has no name yet."""

    def __init__(self, window: OverWindow) -> None:
        self._window = window

    def alias(self, alias: str) -> OverWindow:
        """Give the window the name by which `Expression.over` speaks of it."""
        return replace(self._window, name=require_text("alias", alias))

    def following(self, following: Expression[Any]) -> _Framed:
        """Say where the window ends: at the current row or its time, or after it."""
        return _Framed(replace(self._window, following=_tree(following, "following")))


class _Ordered(_Framed):
    """A window whose beginning is not known yet; without one it has all rows up to the current one's time."""

    def preceding(self, preceding: Expression[Any]) -> _Framed:
        """Say where the window begins: some rows or an interval before the current row, or at the first one."""
        return _Framed(replace(self._window, preceding=_tree(preceding, "preceding")))


def _tree(value: object, method: str) -> Tree:
    if isinstance(value, Expression):
        return value._tree
    raise ProgramError(
        "requires an expression",
        who=call_site(method),
        got=repr(value),
        hint='e.g. col("ts"), lit(5).minutes',
    )
