"""The nodes that group rows: by key, by window, over the rows before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.aggregates import GroupAggregate as Groups
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.functions.columns.windows import OverAggregate as Overs
from firesteel.functions.columns.windows import OverPartitions as Partitions
from firesteel.functions.columns.windows import PartitionFrame
from firesteel.functions.columns.windows import WindowAggregate as Windows
from firesteel.functions.columns.windows import WindowTable as WindowRows
from firesteel.functions.user_defined import TableAggregateFunction
from firesteel.relational.logical.printing import frame_text
from firesteel.relational.physical.node import Changes, Keys, Shown, UnaryNode, Updates, mode_of
from firesteel.relational.physical.texts import select_text
from firesteel.relational.physical.window_texts import lasting, window_text

Phase = Literal["single", "local", "global"]
"""Whether a node aggregates by itself, before the exchange, or what comes out of that."""


@dataclass(frozen=True)
class GroupAggregate(UnaryNode):
    """Aggregates by key, as `aggregate` says, whose `input` is the type of the rows that are aggregated."""

    aggregate: Groups
    phase: Phase = "single"

    @property
    def name(self) -> str:
        """Return the name of the phase, with that of Flink for functions that give several rows."""
        users = (one.user for one in self.aggregate.aggregations if one.user is not None)
        tables = any(isinstance(user.body, TableAggregateFunction) for user in users)
        phase = {"single": "", "local": "Local", "global": "Global"}[self.phase]
        return f"{phase}Group{'Table' if tables else ''}Aggregate"

    @property
    def row(self) -> RowType:
        """Return keys and results; before the exchange, the results stand for what has been gathered of them."""
        return self.aggregate.output

    @property
    def upsert_keys(self) -> Keys:
        """Return the keys of the groups."""
        return frozenset([frozenset(range(len(self.aggregate.keys)))])

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the keys and what is computed."""
        yield from _grouped(self.aggregate, self.row)

    @property
    def state(self) -> str | None:
        """Return the groups and how long they live; before the exchange, nothing is kept beyond an epoch."""
        if self.phase == "local":
            return None
        return lasting("a row for each group", self.aggregate.time_to_live)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return updates, and deletes if rows can leave a group; before the exchange, what will be gathered."""
        (below,) = given
        if self.phase == "local":
            return below
        return Changes(update=True, delete=below.update or below.delete)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates, to take them out of their groups."""
        return Updates.BOTH if given.update else Updates.NONE

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> GroupAggregate:
        """Return the node with its mode, and with that of its input in what it computes."""
        mode = ChangelogMode() if self.phase == "local" else mode_of(self.changes(given), required)
        retracts = given[0] != Changes()
        _require_retractable(self.aggregate.aggregations if retracts else ())
        aggregate = replace(self.aggregate, retracts=retracts, update_before=required is Updates.BOTH)
        return replace(self, mode=mode, aggregate=aggregate)


@dataclass(frozen=True)
class WindowAggregate(UnaryNode):
    """Aggregates by key and window; `legacy` is GROUP BY with a window in the list."""

    aggregate: Windows
    legacy: bool = False
    phase: Phase = "single"

    @property
    def name(self) -> str:
        """Return the name of Flink's operator."""
        if self.legacy:
            return "GroupWindowAggregate"
        return {"single": "", "local": "Local", "global": "Global"}[self.phase] + "WindowAggregate"

    @property
    def inserts_only(self) -> bool:
        """Whether updates are refused: those of window table functions, as in Flink."""
        return not self.legacy

    @property
    def row(self) -> RowType:
        """Return keys, results and properties of the windows."""
        return self.aggregate.output

    @property
    def upsert_keys(self) -> Keys:
        """Return the keys with the start or the end of the window."""
        keys = frozenset(range(len(self.aggregate.keys)))
        first = len(self.aggregate.keys) + len(self.aggregate.aggregations)
        return frozenset(keys | {first + place} for place in range(len(self.aggregate.properties)))

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the keys, the windows, and what is computed."""
        grouped = dict(_grouped(self.aggregate, self.row))
        if self.aggregate.keys:
            yield "groupBy", grouped["groupBy"]
        yield "window", window_text(self.aggregate.window, self.aggregate.input.field_names)
        first = len(self.aggregate.keys) + len(self.aggregate.aggregations)
        named = zip(self.aggregate.properties, self.row.field_names[first:], strict=True)
        properties = () if self.phase == "local" else (f"{kind}('w$) AS {name}" for kind, name in named)
        yield "select", ", ".join(filter(None, [grouped["select"], *properties]))

    @property
    def state(self) -> str | None:
        """Return the open windows."""
        if self.phase == "local":
            return None
        shared = self.aggregate.window.shape.kind in ("hop", "cumulate")
        return f"a row for each group and open {'slice' if shared else 'window'}"

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return inserts only: a window's results come once."""
        return Changes()

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates."""
        return Updates.BOTH if given.update else Updates.NONE

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> WindowAggregate:
        """Return the node with whether its input has other changes than inserts."""
        _require_retractable(self.aggregate.aggregations if given[0] != Changes() else ())
        return replace(self, aggregate=replace(self.aggregate, retracts=given[0] != Changes()))


@dataclass(frozen=True)
class WindowTableFunction(UnaryNode):
    """Gives each row once for each of its windows."""

    table: WindowRows

    passes_on = True

    @property
    def row(self) -> RowType:
        """Return the input's columns and those of the window."""
        return self.table.output

    @property
    def state(self) -> str | None:
        """Return the rows of open sessions."""
        return "the rows of open sessions" if self.table.window.shape.kind == "session" else None

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the windows."""
        names = self.table.input.field_names
        partition = tuple(names[place] for place in self.table.partition)
        yield "window", window_text(self.table.window, names, partition)


@dataclass(frozen=True)
class OverAggregate(UnaryNode):
    """Appends aggregates over the rows before each row."""

    over: Overs

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def row(self) -> RowType:
        """Return the input's columns and the results."""
        return self.over.output

    @property
    def state(self) -> str | None:
        """Return the rows that wait, and those that frames reach back to."""
        waiting = "rows up to the watermark, " if self.over.event_time else ""
        reach = "sums of each key" if self.over.frame.lower is None else "rows within the frame"
        return lasting(f"{waiting}{reach}", self.over.time_to_live)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield keys, order, frame and what is computed."""
        names = self.over.input.field_names
        if self.over.keys:
            yield "partitionBy", ", ".join(names[key] for key in self.over.keys)
        yield "orderBy", f"{names[self.over.time]} ASC"
        unit, lower = ("ROWS" if self.over.frame.rows else "RANGE"), self.over.frame.lower
        start = "UNBOUNDED" if lower is None else str(lower)
        yield "window", f" {unit} BETWEEN {start} PRECEDING AND CURRENT ROW"
        results = self.row.field_names[len(names) :]
        yield "select", select_text(names, self.over.aggregations, results)


@dataclass(frozen=True)
class OverPartitions(UnaryNode):
    """Appends calls over frames of whole partitions, in BATCH mode."""

    over: Partitions

    @property
    def name(self) -> str:
        """Return Flink's name."""
        return "OverAggregate"

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def row(self) -> RowType:
        """Return the input's columns and the results."""
        return self.over.output

    @property
    def state(self) -> str:
        """Return the rows."""
        return "all rows"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield keys, order, and what is computed over each frame."""
        names = self.over.input.field_names
        if self.over.keys:
            yield "partitionBy", ", ".join(names[key] for key in self.over.keys)
        if self.over.order:
            yield (
                "orderBy",
                ", ".join(
                    f"{names[key.column]} {'ASC' if key.ascending else 'DESC'}" for key in self.over.order
                ),
            )
        results = self.row.field_names[len(names) :]
        named = [
            f"{call.shown} AS {result} {_partition_text(frame)}"
            for (call, frame), result in zip(self.over.calls, results, strict=True)
        ]
        yield "select", ", ".join([*names, *named])


@dataclass(frozen=True)
class OverChanges(OverPartitions):
    """Appends calls over frames of partitions whose rows come and go, in STREAMING mode."""

    @property
    def inserts_only(self) -> bool:
        """Return that rows may come and go."""
        return False

    @property
    def upsert_keys(self) -> Keys:
        """Return those of the input."""
        return self.input.upsert_keys

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that results change."""
        return Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates."""
        return Updates.BOTH if given.update else Updates.NONE


def _require_retractable(calls: tuple[Aggregation, ...]) -> None:
    """Raise UnsupportedError for functions of the user's that cannot take rows back."""
    for call in calls:
        if call.user is not None and not call.user.retracts:
            raise UnsupportedError(
                "requires the method retract(), because rows of its input are taken back",
                who=f"Aggregate function {call.user.name}",
                got=call.shown,
            )


def _partition_text(frame: PartitionFrame) -> str:
    lower = None if frame.lower is None else -frame.lower
    return frame_text(rows=frame.rows, lower=lower, upper=frame.upper)


def _grouped(aggregate: Groups | Windows, row: RowType) -> Iterator[tuple[str, str]]:
    count = len(aggregate.keys)
    keys = [aggregate.input.field_names[key] for key in aggregate.keys]
    if keys:
        yield "groupBy", ", ".join(keys)
    results = row.field_names[count : count + len(aggregate.aggregations)]
    yield "select", select_text(keys, aggregate.aggregations, results, retracts=aggregate.retracts)
