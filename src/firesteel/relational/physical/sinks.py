"""The nodes of sinks, and what a sink asks of a query.

Source: FlinkChangelogModeInferenceProgram (inferSinkRequiredTraits, analyzeUpsertMaterializeStrategy), CommonExecSink.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.strings import LengthType
from firesteel.common.places import errors_at
from firesteel.functions.columns.connectors import ChangelogMode, TableSink
from firesteel.functions.columns.sinks import Conflict, Constraints, Materialization
from firesteel.relational.physical.node import Changes, PassingNode, PhysicalNode, Shown, Updates
from firesteel.relational.physical.nodes import DropUpdateBefore, Exchange
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.sink_options import SinkOptions
from firesteel.relational.tables import ResolvedTable


@dataclass(frozen=True)
class ConstraintEnforcer(PassingNode):
    """The rows that fit the columns of a table."""

    constraints: Constraints

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns that are looked at."""
        names = self.row.field_names
        if self.constraints.not_null:
            yield "notNull", ", ".join(names[place] for place in self.constraints.not_null)
        if self.constraints.lengths != "IGNORE":
            yield "lengths", self.constraints.lengths


@dataclass(frozen=True)
class SinkMaterializer(PassingNode):
    """The changes of a table by its primary key, which is not the query's; made when modes are known."""

    materialization: Materialization

    @property
    def state(self) -> str:
        """Return what is kept."""
        if self.materialization.conflict == "DEDUPLICATE":
            return "all rows of each primary key"
        return "a row for each primary key, and the changes since the last watermark"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the primary key and what is done with conflicts."""
        names = self.row.field_names
        yield "pk", ", ".join(names[place] for place in self.materialization.key)
        yield "conflictStrategy", self.materialization.conflict


@dataclass(frozen=True)
class Sink(PassingNode):
    """Writes the rows to a sink; `title` is what plans call it, `who` what errors do, `target` a table that it is.

    One that `overwrites` takes the place of what the table has.
    """

    sink: TableSink = field(compare=False, repr=False)
    title: str
    who: str
    primary_key: tuple[int, ...] | None = None
    conflict: Conflict | None = None
    options: SinkOptions = field(default_factory=SinkOptions)
    materializes: bool = False
    target: ResolvedTable | None = None
    overwrites: bool = False

    is_sink: ClassVar[bool] = True

    @property
    def short_name(self) -> str:
        """Return the name of the sink or of its table; without either, its title."""
        return self.sink.name or (self.title if self.target is None else self.target.identifier.name)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the table and its columns, and what is done with conflicts."""
        yield "table", self.title
        yield "fields", ", ".join(self.row.field_names)
        if self.materializes:
            yield "upsertMaterialize", "true"
        if self.conflict is not None:
            yield "conflictStrategy", self.conflict


def constrained(given: PhysicalNode, wanted: RowType, options: SinkOptions) -> PhysicalNode:
    """Return the rows that fit the columns of a table, of type `wanted`; the node itself if all rows do."""
    pairs = [*zip(given.row.fields, wanted.fields, strict=True)]
    not_null = tuple(
        place for place, (one, other) in enumerate(pairs) if one.type.nullable and not other.type.nullable
    )
    lengths = any(isinstance(other.type, LengthType) for _, other in pairs)
    if not not_null and not (lengths and options.lengths != "IGNORE"):
        return given
    return ConstraintEnforcer(given, Constraints(wanted, not_null, options.drop_null, options.lengths))


def required_updates(sink: Sink, changes: Changes) -> tuple[Updates, ...]:
    """Return which rows of updates the sink can do with, best first, of a query with these changes."""
    if not changes.update:
        return (Updates.NONE,)
    if sink.sink.mode.update_before:
        return (Updates.BOTH,)
    if sink.primary_key is None or frozenset(sink.primary_key) in sink.input.upsert_keys:
        return (Updates.AFTER, Updates.BOTH)
    return (Updates.BOTH,)


def finished(sink: Sink, time_to_live: int | None) -> Sink:
    """Return the sink, whose input has its mode, over the changes that it takes.

    `time_to_live` is that of the session's state. Raises ProgramError for a primary key that is not the query's where
    INSERT does not say what to do with conflicts.
    """
    with errors_at(sink.place):
        materializes = _materializes(sink)
        if materializes and time_to_live is not None and sink.conflict in ("ERROR", "NOTHING"):
            raise UnsupportedError(
                f"with ON CONFLICT DO {sink.conflict} holds rows back, for which 'table.exec.state.ttl' is not "
                "supported yet",
                who=sink.who,
                hint="reset the option for this statement, or use ON CONFLICT DO DEDUPLICATE",
            )
    if materializes:
        return _materialized(sink, time_to_live)
    if sink.sink.mode.update_before or not sink.input.mode.update_before:
        return sink
    return replace(sink, input=DropUpdateBefore.of(sink.input, as_delete=True))


def _materializes(sink: Sink) -> bool:
    given = replace(sink.input.mode, update_before=False)  # a sink that adapts takes updates by key
    taken = sink.sink.mode_for(given)
    upserts = not taken.append_only and not taken.update_before
    if sink.conflict is not None:
        _check_conflict(sink, upserts, taken)
    wanted = sink.options.materialize
    if wanted == "NONE" or sink.primary_key is None:
        return False
    if wanted == "FORCE":
        if sink.sink.mode_for(ChangelogMode.upserts()).append_only:
            raise _only_inserts(sink)
        return not taken.update_before
    if not upserts or (given.append_only and sink.conflict == "DEDUPLICATE"):
        return False
    key = frozenset(sink.primary_key)
    if any(known <= key for known in sink.input.upsert_keys):
        return False
    if sink.options.require_on_conflict and sink.conflict is None:
        raise _different_keys(sink, key)
    return True


def _materialized(sink: Sink, time_to_live: int | None) -> Sink:
    assert sink.primary_key is not None
    keys = sorted((len(key), sorted(key)) for key in sink.input.upsert_keys)
    spec = Materialization(
        sink.row,
        sink.primary_key,
        tuple(keys[0][1]) if keys else (),
        sink.conflict or "DEDUPLICATE",
        time_to_live,
    )
    below = Exchange(sink.input, sink.primary_key, mode=sink.input.mode)
    made = SinkMaterializer(below, spec, mode=ChangelogMode.upserts())
    return replace(sink, input=made, materializes=True)


def _check_conflict(sink: Sink, upserts: bool, taken: ChangelogMode) -> None:
    if not upserts:
        why = (
            "it only accepts INSERT (append-only) changes"
            if taken.append_only
            else "it requires UPDATE_BEFORE (retract mode)"
        )
        raise ProgramError(
            "takes no ON CONFLICT clause, which is only allowed for upsert sinks", who=sink.who, got=why
        )
    if sink.conflict == "DEDUPLICATE":
        return
    without = _without_watermark(sink.input)
    if without:
        raise ProgramError(
            f"ON CONFLICT DO {sink.conflict} requires all source tables to define watermarks",
            who=sink.who,
            got=f"no watermark of {', '.join(without)}",
            hint="add a WATERMARK declaration to these tables",
        )


def _without_watermark(node: PhysicalNode) -> list[str]:
    if isinstance(node, TableSourceScan):
        title = node.table.identifier
        name = ".".join(filter(None, (title.catalog, title.database, title.name)))
        return [] if node.table.watermark is not None else [name]
    return [name for below in node.inputs for name in _without_watermark(below)]


def _different_keys(sink: Sink, written: frozenset[int]) -> ProgramError:
    names = sink.row.field_names
    keys = sorted(_listed(names, key) for key in sink.input.upsert_keys)
    return ProgramError(
        f"has the primary key {_listed(names, written)}, which differs from the upsert key of the query",
        who=sink.who,
        got=" or ".join(keys) or "no upsert key",
        hint="say what happens to rows with one primary key: ON CONFLICT DO DEDUPLICATE (the latest record is written; "
        "all of them are kept), ON CONFLICT DO ERROR, or ON CONFLICT DO NOTHING (the first record stays)",
    )


def _only_inserts(sink: Sink) -> UnsupportedError:
    return UnsupportedError(
        "takes inserts alone, but rows of one primary key update each other with "
        "'table.exec.sink.upsert-materialize' = 'FORCE'",
        who=sink.who,
        hint="set the option to AUTO for this statement",
    )


def _listed(names: list[str], key: frozenset[int]) -> str:
    return f"[{', '.join(names[place] for place in sorted(key))}]"


def overwriting(sink: TableSink, title: str, *, batch: bool) -> TableSink:
    """Return the sink that takes the place of what a table has.

    Raises UnsupportedError in STREAMING mode, and for a table that cannot be overwritten.
    """
    if not batch:
        what = "is not supported in STREAMING mode, as in Flink"
        raise UnsupportedError(what, who="INSERT OVERWRITE", hint="use INSERT INTO; it adds rows")
    made = sink.sink.overwriting()
    if made is None:
        raise UnsupportedError(
            "requires a table that can be overwritten",
            who="INSERT OVERWRITE",
            got=title,
            hint="tables of files can",
        )
    return replace(sink, sink=made)
