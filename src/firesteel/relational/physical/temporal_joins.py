"""Joins with `FOR SYSTEM_TIME AS OF` a row time, and the versions that they need.

Source: Flink's StreamPhysicalTemporalJoin and TemporalJoinRewriteWithUniqueKeyRule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import BooleanType, RowType
from firesteel.common.places import errors_at
from firesteel.functions.columns import temporal_joins
from firesteel.relational.expressions import Call, Expression, InputRef
from firesteel.relational.logical import temporal_joins as logical
from firesteel.relational.logical.joins import different_names
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.changelog import changes_of
from firesteel.relational.physical.grouping import WindowAggregate, WindowTableFunction
from firesteel.relational.physical.joins import AnyJoin, covers, equal_columns
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, UnaryNode, Updates
from firesteel.relational.physical.nodes import Calc, Exchange, WatermarkAssigner
from firesteel.relational.physical.ranks import Rank
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.timed_joins import WindowJoin
from firesteel.relational.physical.window_ranks import WindowRank
from firesteel.relational.rules.substitution import all_of, conjuncts, refs

WHO: Final = "Temporal join"
_CONDITION: Final = "__TEMPORAL_JOIN_CONDITION"


@dataclass(frozen=True)
class TemporalJoin(AnyJoin):
    """Left rows with the versions of the right side that are valid at their row times.

    `primary_key` has the places of the right side's key, `time` and `version_time` those of the row times.
    """

    primary_key: tuple[int, ...]
    time: int
    version_time: int

    @property
    def state(self) -> str:
        """Return the rows that wait, and the versions."""
        return "left rows that wait for the watermark, and the versions of the right side"

    @property
    def upsert_keys(self) -> Keys:
        """Return those of the left side: a row of it has one partner at most."""
        return self.left.upsert_keys

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the kind, the condition with the times and keys, and the columns."""
        names = different_names([*self.left.row.field_names, *self.right.row.field_names])
        yield "joinType", self.kind_text
        yield "where", shown(all_of([*conjuncts(self.condition), self._temporal_condition()]), names)
        yield "select", ", ".join(self.row.field_names)

    def _temporal_condition(self) -> Expression:
        """Return the condition on the times as Flink writes it."""
        width, truth = len(self.left.row.fields), BooleanType(nullable=False)

        def right(places: tuple[int, ...]) -> tuple[Expression, ...]:
            found = refs(self.right.row, places)
            return tuple(InputRef(ref.type, ref.index + width) for ref in found)

        own = refs(self.left.row, [mine for mine, _, _ in self.keys])
        arguments = (
            *refs(self.left.row, [self.time]),
            *right((self.version_time,)),
            Call(truth, f"{_CONDITION}_PRIMARY_KEY", right(self.primary_key)),
            Call(truth, "__TEMPORAL_JOIN_LEFT_KEY", own),
            Call(truth, "__TEMPORAL_JOIN_RIGHT_KEY", right(tuple(theirs for _, theirs, _ in self.keys))),
        )
        return Call(truth, _CONDITION, arguments)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return those of the left side."""
        return given[0]

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require of the left side what is required of the join; old rows of the right side are passed over."""
        if not given.update:
            return Updates.NONE
        return Updates.AFTER if required is Updates.NONE else required

    def temporal_join(self, zone: str) -> temporal_joins.TemporalJoin:
        """Return what the operator does."""
        return temporal_joins.TemporalJoin(self.join(zone), self.time, self.version_time)


@dataclass(frozen=True)
class Versions(UnaryNode):
    """All rows that have been the last one of their key by row time."""

    versions: temporal_joins.Versions

    @property
    def row(self) -> RowType:
        """Return the columns of the input."""
        return self.input.row

    @property
    def name(self) -> str:
        """Return Flink's name: it gives each row that is the last one for a while."""
        return "Deduplicate"

    @property
    def state(self) -> str:
        """Return what is kept of each key."""
        return "the last time of each key"

    @property
    def upsert_keys(self) -> Keys:
        """Return the key."""
        return frozenset([frozenset(self.versions.keys)])

    @property
    def inserts_only(self) -> bool:
        """Return that no row may go."""
        return True

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield which rows are kept, the key, and the order."""
        yield "keep", "LastRow"
        yield "key", ", ".join(self.row.field_names[key] for key in self.versions.keys)
        yield "order", "ROWTIME"

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that later rows update earlier ones."""
        return Changes(update=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require nothing: the input has inserts only."""
        return Updates.NONE


def versions_node(node: logical.Versions, below: PhysicalNode) -> PhysicalNode:
    """Return the versions of a planned node's rows, behind the exchange that they need."""
    spec = temporal_joins.Versions(below.row, node.partition, node.time)
    return Versions(Exchange(below, node.partition), spec)


def temporal_join_node(
    node: logical.TemporalJoin, left: PhysicalNode, right: PhysicalNode, options: PlanOptions
) -> PhysicalNode:
    """Return the temporal join in event time of two planned sides, behind the exchanges that it needs.

    Raises ProgramError if no equality or no primary key is there, or the former does not have the latter, and
    UnsupportedError in BATCH mode, with a time to live, and for versions that are computed of others.
    """
    assert node.version_time is not None
    if options.batch:
        raise UnsupportedError("in event time is not supported in BATCH mode, as in Flink", who=WHO)
    keys, rest = equal_columns(conjuncts(node.condition), len(left.row.fields))
    if not keys:
        raise ProgramError(
            "requires that a column of the left table equals one of the versioned table",
            who=WHO,
            got="no such part of its condition",
        )
    primary_key = _primary_key(right, keys)
    _require_versions(right, node.version_time)
    if options.state_ttl is not None:
        raise UnsupportedError(
            "keeps rows, for which 'table.exec.state.ttl' is not supported yet",
            who=WHO,
            hint="reset the option for this query; versions that are over are dropped anyway",
        )
    return TemporalJoin(
        Exchange(left, tuple(key[0] for key in keys)),
        Exchange(right, tuple(key[1] for key in keys)),
        node.kind,
        node.condition,
        keys,
        rest,
        node.row,
        primary_key,
        node.time,
        node.version_time,
    )


def _primary_key(right: PhysicalNode, keys: Sequence[tuple[int, int, bool]]) -> tuple[int, ...]:
    """Return the primary key of the versioned table that the join's equalities have."""
    known, names = right.upsert_keys, right.row.field_names
    equal = frozenset(theirs for _, theirs, _ in keys)
    if not covers(known, equal):
        shown = sorted(f"({', '.join(names[place] for place in sorted(key))})" for key in known)
        raise ProgramError(
            "requires that its equalities have the primary key of the versioned table",
            who=WHO,
            got=f"equalities of {', '.join(names[place] for place in sorted(equal))}"
            + (f", and the key {' or '.join(shown)}" if shown else ""),
            hint="declare PRIMARY KEY (...) NOT ENFORCED, or take a view of the last row of each key by ROW_NUMBER",
        )
    return tuple(sorted(min((key for key in known if key <= equal), key=sorted)))


def _require_versions(node: PhysicalNode, time: int) -> None:
    """Refuse a right side whose earlier versions are not all there, or whose end would not be seen.

    Each first row by time is there when the watermark passes it, and never goes, so conditions and functions of it
    change nothing; `time` is the place of the row time by which versions are valid.
    """
    filtered = None
    while isinstance(node, Calc | WatermarkAssigner):
        if isinstance(node, Calc):
            column = node.expressions[time]
            time = column.index if isinstance(column, InputRef) else -1
            if node.condition is not None:
                filtered = node
        (node,) = node.inputs
    if isinstance(node, Rank) and _gives_first_rows(node, time):
        return
    if filtered is not None:
        with errors_at(filtered.place):
            raise UnsupportedError(
                "with versions that pass a condition is not supported",
                who=WHO,
                hint="put the condition into WHERE of the query that joins",
            )
    if isinstance(node, Versions) and not _come_in_time(node.input, node.versions.time):
        with errors_at(node.place):
            raise UnsupportedError(
                "with rows of windows as the versioned table is not supported",
                who=WHO,
                got="rows that come when a window ends, after the watermark has passed their times",
                hint="order by window_time: it is the time at which they come",
            )
    if not isinstance(node, TableSourceScan | Versions):
        with errors_at(node.place):
            raise UnsupportedError(
                f"with the result of {node.name} as the versioned table is not supported yet",
                who=WHO,
                hint="join with a table, or with a view of its first or last rows by ROW_NUMBER ... ORDER BY time",
            )


def _come_in_time(node: PhysicalNode, time: int) -> bool:
    """Return whether rows come before the watermark has passed the time in a column of theirs.

    Rows of windows come when these end; only the time of their windows has not passed then.
    """
    waits = False
    while not isinstance(node, WindowAggregate | TableSourceScan):
        if isinstance(node, Calc):
            column = node.expressions[time]
            if not isinstance(column, InputRef):
                return True
            time = column.index
        elif isinstance(node, WindowRank | WindowJoin):
            waits = True
        elif isinstance(node, WindowTableFunction) and time >= len(node.input.row.fields):
            return True
        elif not isinstance(node, Exchange | WatermarkAssigner | WindowTableFunction):
            break
        first, *others = node.inputs
        width = len(first.row.fields)
        if others and time >= width:
            node, time = others[0], time - width
        else:
            node = first
    return isinstance(node, WindowAggregate) or not waits


def _gives_first_rows(node: Rank, time: int) -> bool:
    """Return whether a node gives the first row of each key alone, by row time in the column `time` or as they come."""
    order = [key.column for key in node.rank.order]
    return node.keeps_first and order in ([time], []) and changes_of(node) == Changes()
