"""The first rows of each partition: a bound on ROW_NUMBER, RANK or DENSE_RANK, which is Top-N or deduplication.

Both take what an OVER window does not: other orders than time, late rows, and updates. So bounds that are no such thing
are refused by name, and not run as a window whose rows are filtered. Source: Flink's StreamPhysicalRank and
StreamPhysicalDeduplicate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, get_args

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.temporal import is_proctime, is_time_attribute
from firesteel.common.places import errors_at
from firesteel.functions.columns import ranks
from firesteel.functions.columns.sorting import SortColumn
from firesteel.relational.expressions import Call, Expression, InputRef, references
from firesteel.relational.logical import derived
from firesteel.relational.logical.nodes import Filter, LogicalNode, Over, Project
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, UnaryNode, Updates
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.physical.window_texts import lasting
from firesteel.relational.rules.substitution import conjuncts

_RANKS: Final = frozenset(get_args(ranks.RankFunction))
_BOUNDS: Final = frozenset(["=", "<", "<=", ">", ">="])


@dataclass(frozen=True)
class Rank(UnaryNode):
    """The rows of each partition whose rank is within bounds."""

    rank: ranks.Rank
    ascending: tuple[str, ...]
    """The columns of the order as text."""

    @property
    def row(self) -> RowType:
        """Return the columns, and the rank if it is shown."""
        return self.rank.output

    @property
    def deduplicates(self) -> bool:
        """Return whether the rows kept are the first or the last ones by time."""
        rank = self.rank
        one = rank.start == rank.end == 1 and rank.function == "ROW_NUMBER" and not rank.shows
        return one and len(self.ascending) == 1 and self.by_time

    @property
    def keeps_first(self) -> bool:
        """Return whether the rows kept are the first ones by time."""
        return self.deduplicates and not self.rank.latest

    @property
    def by_time(self) -> bool:
        """Return whether the order is that of a time attribute."""
        return not self.rank.order or is_time_attribute(self.rank.row.fields[self.rank.order[0].column].type)

    @property
    def name(self) -> str:
        """Return Flink's name."""
        return "Deduplicate" if self.deduplicates else "Rank"

    @property
    def state(self) -> str:
        """Return which rows are kept."""
        if self.first_row() is not None:
            return lasting("the first rows that wait, and which keys have had one", self.rank.time_to_live)
        rows = "the rows up to the last rank" if self.input.mode.append_only else "all rows"
        return lasting(rows, self.rank.time_to_live)

    @property
    def upsert_keys(self) -> Keys:
        """Return the partition with the rank, the partition alone if it has one row, and those of the input."""
        rank = self.rank
        found = set(self.input.upsert_keys)
        if rank.function == "ROW_NUMBER" and rank.start == rank.end:
            found.add(frozenset(rank.keys))
        elif rank.function == "ROW_NUMBER" and rank.shows:
            found.add(frozenset((*rank.keys, len(rank.row.fields))))
        return frozenset(found)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the ranks, the partition and the order."""
        rank, names = self.rank, self.rank.row.field_names
        keys = ", ".join(names[key] for key in rank.keys)
        if self.deduplicates:
            yield "keep", "LastRow" if rank.latest else "FirstRow"
            yield "key", keys
            yield "order", "ROWTIME" if rank.order else "PROCTIME"
            return
        yield "strategy", "AppendFastStrategy" if self.input.mode.append_only else "RetractStrategy"
        yield "rankType", rank.function
        yield "rankRange", rank.bounds
        if keys:
            yield "partitionBy", keys
        yield "orderBy", ", ".join(self.ascending)
        yield "select", ", ".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come and go; the first one by time of those that stay is the first one for ever."""
        (below,) = given
        if self.keeps_first and below == Changes():
            return Changes()
        return Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates."""
        return Updates.BOTH if given.update else Updates.NONE

    def first_row(self) -> ranks.FirstRow | None:
        """Return what gives the first row of each key by row time; None if other rows are asked for, or rows can go."""
        rank = self.rank
        if not (self.keeps_first and rank.order and self.input.mode.append_only):
            return None
        return ranks.FirstRow(rank.row, rank.keys, rank.order[0].column, rank.time_to_live)

    def operation(self) -> ranks.Rank:
        """Return what the operator does, now that it is known whether rows can go."""
        return replace(self.rank, retracts=not self.input.mode.append_only)


def rank_node(node: derived.Rank, below: PhysicalNode, options: PlanOptions) -> PhysicalNode:
    """Return the rank of the rows of a planned node, behind the exchange that it needs."""
    row = below.row
    kinds = [row.fields[key.index].type for key in node.order]
    timed = is_time_attribute(kinds[0]) and len(kinds) == 1
    order = tuple(SortColumn(key.index, key.ascending, key.nulls_first) for key in node.order)
    rank = ranks.Rank(
        row,
        node.row,
        node.partition,
        () if is_proctime(kinds[0]) else order,
        node.function,
        node.start,
        node.end,
        shows=node.shows,
        latest=timed and not node.order[0].ascending,
        end_column=node.end_column,
        time_to_live=options.state_ttl,
    )
    texts = tuple(f"{row.field_names[key.column]} {'ASC' if key.ascending else 'DESC'}" for key in order)
    return Rank(Exchange(below, node.partition), rank, texts)


def refuse_ranks(node: LogicalNode, condition: Expression) -> None:
    """Raise UnsupportedError if a condition on the rows of a node bounds their rank within a partition."""
    for part in conjuncts(condition):
        if not isinstance(part, Call) or part.function not in _BOUNDS:
            continue
        for operand, other in (part.arguments, part.arguments[::-1]):
            if not isinstance(operand, InputRef) or operand.index in references(other):
                continue
            function = _rank(node, operand.index)
            if function is not None:
                with errors_at(part.place or condition.place):
                    raise UnsupportedError(
                        f"of {function} is not supported yet in STREAMING mode",
                        who="Top-N and deduplication",
                        hint="compare it with a constant, or with < or <= with a column of its PARTITION BY",
                    )


def _rank(node: LogicalNode, column: int) -> str | None:
    """Return the function that ranks rows in a column of a node, None if none does."""
    match node:
        case Filter():
            return _rank(node.input, column)
        case Project():
            value = node.expressions[column]
            return _rank(node.input, value.index) if isinstance(value, InputRef) else None
        case Over():
            before = len(node.input.row.fields)
            if column < before:
                return _rank(node.input, column)
            function = node.calls[column - before].function
            return function if function in _RANKS else None
    return None
