"""The first rows of each partition of a window. Source: Flink's StreamPhysicalWindowRank and WindowDeduplicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.temporal import is_proctime, is_rowtime
from firesteel.functions.columns import ranks
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import WindowAssignment
from firesteel.relational.logical import derived
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, UnaryNode
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.physical.window_texts import window_text
from firesteel.relational.physical.windows import carried
from firesteel.relational.rules.carried_windows import attached, windows_of


@dataclass(frozen=True)
class WindowRank(UnaryNode):
    """The rows of each partition of a window whose rank is within bounds."""

    rank: ranks.WindowRank
    window: WindowAssignment
    order: tuple[str, ...]
    """The columns of the order as text."""

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def row(self) -> RowType:
        """Return the columns, and the rank if it is shown."""
        return self.rank.rank.output

    @property
    def deduplicates(self) -> bool:
        """Return whether the rows kept are the first or the last ones by time."""
        rank = self.rank.rank
        one = rank.start == rank.end == 1 and rank.function == "ROW_NUMBER" and not rank.shows
        return one and len(rank.order) == 1 and is_rowtime(rank.row.fields[rank.order[0].column].type)

    @property
    def name(self) -> str:
        """Return Flink's name."""
        return "WindowDeduplicate" if self.deduplicates else "WindowRank"

    @property
    def state(self) -> str:
        """Return which rows are kept."""
        return "the first rows of open windows"

    @property
    def upsert_keys(self) -> Keys:
        """Return those of the input, and the partition with its window and the rank, if it is shown."""
        rank = self.rank.rank
        found = set(self.input.upsert_keys)
        partition = {*rank.keys, self.rank.start, self.rank.end}
        if rank.function == "ROW_NUMBER" and rank.start == rank.end:
            found.add(frozenset(partition))
        elif rank.function == "ROW_NUMBER" and rank.shows:
            found.add(frozenset({*partition, len(rank.row.fields)}))
        return frozenset(found)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the window, the ranks, the partition and the order."""
        rank, names = self.rank.rank, self.rank.rank.row.field_names
        keys = ", ".join(names[key] for key in rank.keys)
        yield "window", window_text(self.window, names)
        if self.deduplicates:
            yield "keep", "LastRow" if rank.latest else "FirstRow"
            yield "partitionKeys", keys
            yield "orderKey", names[rank.order[0].column]
            yield "order", "ROWTIME"
            return
        yield "rankType", rank.function
        yield "rankRange", rank.bounds
        yield "partitionBy", keys
        yield "orderBy", ", ".join(self.order)
        yield "select", ", ".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return inserts only: the rows of a window come once."""
        return Changes()


def window_rank(node: derived.Rank, below: PhysicalNode, options: PlanOptions) -> PhysicalNode:
    """Return the rank of the rows of a planned node within their windows, behind the exchange that it needs.

    Raises UnsupportedError for processing time.
    """
    windows = windows_of(node.input)
    assert windows is not None
    row = below.row
    first = row.fields[node.order[0].index].type
    if is_proctime(windows.time_type) or is_proctime(first):
        raise UnsupportedError(
            "of processing time is not supported in STREAMING mode, as in Flink",
            who="Window Top-N and deduplication",
        )
    window = carried(attached(windows), options)
    assert window.start is not None
    assert window.end is not None
    keys = tuple(key for key in node.partition if key not in windows.parts)
    order = tuple(SortColumn(key.index, key.ascending, key.nulls_first) for key in node.order)
    timed = is_rowtime(first) and len(order) == 1
    rank = ranks.Rank(
        row,
        node.row,
        keys,
        order,
        node.function,
        node.start,
        node.end,
        shows=node.shows,
        latest=timed and not node.order[0].ascending,
        end_column=node.end_column,
    )
    texts = tuple(f"{row.field_names[key.column]} {'ASC' if key.ascending else 'DESC'}" for key in order)
    return WindowRank(
        Exchange(below, keys), ranks.WindowRank(rank, window.start, window.end, window.zone), window, texts
    )
