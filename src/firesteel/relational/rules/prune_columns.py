"""Columns that nothing reads are not carried along, down to the tables: a source reads the others only.

Each relation keeps at least one column, so that it still has rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch

from firesteel.common.logical_types import BigIntType, RowType
from firesteel.relational.expressions import AggregateCall, Expression, references
from firesteel.relational.logical.changelogs import FromChangelog, ToChangelog
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.derived import Delivery, Expand, PythonCalc, Rank
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    GroupWindowAggregate,
    LogicalNode,
    Over,
    Project,
    Replicate,
    Sort,
    TableScan,
    TableSink,
    UnionAll,
    Values,
    Watermark,
    WindowTable,
)
from firesteel.relational.logical.process_tables import ProcessTable
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.logical.temporal_joins import TemporalJoin, Versions
from firesteel.relational.logical.vectors import VectorSearch
from firesteel.relational.logical.windows import moved_window, window_columns
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.pruned_calls import calls_over, needed_columns
from firesteel.relational.rules.substitution import columns_of, moved, moved_call, refs

Places = dict[int, int]
"""Where the columns that are kept are now, by the places where they were."""

Pruned = tuple[LogicalNode, Places]


def prune_columns(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Drop what is not read. The columns of the whole plan stay."""
    return _exact(plan, range(len(plan.row.fields)))


def _exact(node: LogicalNode, wanted: Iterable[int]) -> LogicalNode:
    """Return the relation with exactly these columns, in this order."""
    wanted = list(wanted)
    made, places = pruned(node, frozenset(wanted))
    order = [places[place] for place in wanted]
    if order == [*range(len(made.row.fields))]:
        return made
    names = [node.row.field_names[place] for place in wanted]
    return Project(made, refs(made.row, order), tuple(names))


def _only(node: LogicalNode, wanted: Iterable[int]) -> Pruned:
    """Return the relation with these columns and no others, because an exchange comes next."""
    kept = _kept(frozenset(wanted))
    return _exact(node, kept), _now(kept)


def pruned(node: LogicalNode, wanted: frozenset[int]) -> Pruned:
    """Return the node with at least the wanted ones of its columns, and where they are."""
    made, places = _narrowed(node, wanted)
    return made.at(node.place), places


@singledispatch
def _narrowed(node: LogicalNode, wanted: frozenset[int]) -> Pruned:
    raise AssertionError(f"columns of {type(node).__name__}")


@_narrowed.register
def _(node: TableScan, wanted: frozenset[int]) -> Pruned:
    return _selected(node, wanted)


@_narrowed.register
def _(node: Values, wanted: frozenset[int]) -> Pruned:
    kept = _kept(wanted)
    rows = tuple(tuple(row[place] for place in kept) for row in node.rows)
    return Values(rows, _row(node.row, kept)), _now(kept)


@_narrowed.register
def _(node: Project, wanted: frozenset[int]) -> Pruned:
    kept = _kept(wanted)
    expressions = [node.expressions[place] for place in kept]
    below, places = pruned(node.input, _used(expressions))
    columns = tuple(moved(expression, places) for expression in expressions)
    return Project(below, columns, tuple(node.names[place] for place in kept)), _now(kept)


@_narrowed.register
def _(node: Filter, wanted: frozenset[int]) -> Pruned:
    below, places = pruned(node.input, wanted | _used([node.condition]))
    made = Filter(below, moved(node.condition, places), place=node.place)
    kept = sorted(wanted) or [min(places)]
    if len(kept) == len(below.row.fields):
        return made, places
    now = [places[place] for place in kept]
    names = tuple(made.row.field_names[place] for place in now)
    return Project(made, refs(made.row, now), names), _now(kept)


@_narrowed.register
def _(node: Watermark, wanted: frozenset[int]) -> Pruned:
    kept = sorted(wanted | {node.column} | _used([node.expression]))
    below, places = _only(node.input, kept)
    expression = moved(node.expression, places)
    return Watermark(below, places[node.column], expression, _row(node.row, kept)), places


@_narrowed.register
def _(node: Aggregate, wanted: frozenset[int]) -> Pruned:
    if not node.row.fields:
        node = _counted(node)
    calls = _calls(len(node.keys), len(node.calls), wanted)
    below, places = _only(node.input, {*node.keys, *_read(node.calls[call] for call in calls)})
    kept = [*range(len(node.keys)), *(len(node.keys) + call for call in calls)]
    keys = tuple(places[key] for key in node.keys)
    made = tuple(moved_call(node.calls[call], places) for call in calls)
    pruned_node = replace(node, input=below, keys=keys, calls=made, type=_row(node.row, kept))
    return pruned_node, _now(kept)


@_narrowed.register
def _(node: GroupWindowAggregate, wanted: frozenset[int]) -> Pruned:
    first, last = len(node.keys), len(node.keys) + len(node.calls)
    calls = _calls(first, len(node.calls), wanted, needed=not node.keys and not node.properties)
    read = {*node.keys, *_read(node.calls[call] for call in calls), *window_columns(node.window)}
    below, places = _only(node.input, read)
    kept = [*range(first), *(first + call for call in calls), *range(last, len(node.row.fields))]
    made = replace(
        node,
        input=below,
        window=moved_window(node.window, places),
        keys=tuple(places[key] for key in node.keys),
        calls=tuple(moved_call(node.calls[call], places) for call in calls),
        type=_row(node.row, kept),
    )
    return made, _now(kept)


@_narrowed.register
def _(node: WindowTable, wanted: frozenset[int]) -> Pruned:
    width = len(node.input.row.fields)
    read = {place for place in wanted if place < width} | set(window_columns(node.window))
    kept = sorted(read)
    below, places = _only(node.input, kept)
    all_kept = [*kept, *range(width, width + 3)]
    return WindowTable(below, moved_window(node.window, places), _row(node.row, all_kept)), _now(all_kept)


@_narrowed.register
def _(node: ToChangelog, wanted: frozenset[int]) -> Pruned:
    below, found = _only(node.input, {place - 1 for place in wanted if place})
    kept = [0, *(place + 1 for place in sorted(found))]
    return replace(node, input=below, type=_row(node.row, kept)), _now(kept)


@_narrowed.register
def _(node: FromChangelog, wanted: frozenset[int]) -> Pruned:
    kept = sorted(wanted) or [0]
    read = [place + (place >= node.op) for place in kept]
    below, places = _only(node.input, {node.op, *read})
    return replace(node, input=below, op=places[node.op]), _now(kept)


@_narrowed.register
def _(node: ProcessTable, wanted: frozenset[int]) -> Pruned:
    parts = tuple(_exact(part, range(len(part.row.fields))) for part in node.parts)
    return _selected(node.with_inputs(parts), wanted)


@_narrowed.register
def _(node: Expand, wanted: frozenset[int]) -> Pruned:
    width = len(node.input.row.fields)
    kept = sorted({place for place in wanted if place < width} | set(node.keys))
    places = _now(kept)
    sets = tuple(tuple(places[key] for key in one) for one in node.sets)
    all_kept = [*kept, width]
    made = Expand(
        _exact(node.input, kept),
        tuple(places[key] for key in node.keys),
        sets,
        node.numbers,
        _row(node.row, all_kept),
    )
    return made, _now(all_kept)


@_narrowed.register
def _(node: Over, wanted: frozenset[int]) -> Pruned:
    width = len(node.input.row.fields)
    calls = _calls(width, len(node.calls), wanted, needed=True)
    read = {place for place in wanted if place < width}
    read |= {*node.partition, *(key.index for key in node.order)}
    read |= {place for call in calls for place in node.calls[call].arguments}
    kept = sorted(read)
    places = _now(kept)
    all_kept = [*kept, *(width + call for call in calls)]
    made = Over(
        _exact(node.input, kept),
        tuple(places[place] for place in node.partition),
        tuple(replace(key, index=places[key.index]) for key in node.order),
        tuple(
            replace(node.calls[call], arguments=tuple(places[place] for place in node.calls[call].arguments))
            for call in calls
        ),
        _row(node.row, all_kept),
    )
    return made, _now(all_kept)


@_narrowed.register
def _(node: Rank, wanted: frozenset[int]) -> Pruned:
    width = len(node.input.row.fields)
    kept = sorted(
        {place for place in wanted if place < width} | {*node.partition, *(key.index for key in node.order)}
    )
    places = _now(kept)
    all_kept = [*kept, width]
    made = replace(
        node,
        input=_exact(node.input, kept),
        partition=tuple(places[place] for place in node.partition),
        order=tuple(replace(key, index=places[key.index]) for key in node.order),
        end_column=None if node.end_column is None else places[node.end_column],
        type=_row(node.type, all_kept),
        shows=node.shows and width in wanted,
    )
    return made, _now(all_kept if made.shows else kept)


@_narrowed.register
def _(node: UnionAll, wanted: frozenset[int]) -> Pruned:
    kept = _kept(wanted)
    parts = tuple(_exact(part, kept) for part in node.parts)
    return UnionAll(parts, _row(node.row, kept)), _now(kept)


@_narrowed.register
def _(node: Join, wanted: frozenset[int]) -> Pruned:
    width = len(node.left.row.fields)
    read = wanted | _used([node.condition])
    left, places = _only(node.left, {place for place in read if place < width})
    right, others = _only(node.right, {place - width for place in read if place >= width})
    now = {**places, **{old + width: new + len(left.row.fields) for old, new in others.items()}}
    made = replace(node, left=left, right=right, condition=moved(node.condition, now))
    return made, now if node.pairs else places


@_narrowed.register
def _(node: TemporalJoin, wanted: frozenset[int]) -> Pruned:
    width = len(node.left.row.fields)
    read = wanted | _used([node.condition]) | {node.time}
    if node.version_time is not None:
        read |= {width + node.version_time}
    left, places = _only(node.left, {place for place in read if place < width})
    right, others = _only(node.right, {place - width for place in read if place >= width})
    now = {**places, **{old + width: new + len(left.row.fields) for old, new in others.items()}}
    made = replace(
        node,
        left=left,
        right=right,
        condition=moved(node.condition, now),
        time=places[node.time],
        version_time=None if node.version_time is None else others[node.version_time],
    )
    return made, now


@_narrowed.register
def _(node: Versions, wanted: frozenset[int]) -> Pruned:
    kept = sorted({*wanted, *node.partition, node.time})
    places = _now(kept)
    partition = tuple(places[place] for place in node.partition)
    return Versions(_exact(node.input, kept), partition, places[node.time]), places


@_narrowed.register
def _(node: Correlate, wanted: frozenset[int]) -> Pruned:
    width = len(node.kept)
    read = {*references(node.condition)} if node.condition is not None else set()
    kept = [place for place in range(width) if place in wanted | read]
    below, places = pruned(node.input, frozenset([*node.arguments, *(node.kept[place] for place in kept)]))
    left = [*kept, *range(width, len(node.row.fields))]
    made = replace(
        node,
        input=below,
        arguments=tuple(places[place] for place in node.arguments),
        kept=tuple(places[node.kept[place]] for place in kept),
        type=_row(node.row, left),
        condition=None if node.condition is None else moved(node.condition, _now(left)),
    )
    return made, _now(left)


@_narrowed.register
def _(node: VectorSearch, wanted: frozenset[int]) -> Pruned:
    width = len(node.input.row.fields)
    read = {place for place in wanted if place < width} | {node.query}
    below, places = pruned(node.input, frozenset(read))
    made = replace(node, input=below, query=places[node.query])
    found, now = range(len(node.row.fields) - width), len(below.row.fields)
    return made, places | {width + place: now + place for place in found}


@_narrowed.register
def _(node: MatchRecognize, wanted: frozenset[int]) -> Pruned:
    width = len(node.row.fields) - len(node.measures)
    measures = _calls(width, len(node.measures), wanted)
    conditions = [one.condition for one in node.definitions]
    read = _used([*conditions, *(node.measures[measure] for measure in measures)])
    read |= {*node.partition, *(key.index for key in node.order)}
    if node.pattern.all_rows:
        read |= {*range(width)}
    below, places = _only(node.input, read)
    kept = [*range(width), *(width + measure for measure in measures)]
    made = replace(
        node,
        input=below,
        partition=tuple(places[place] for place in node.partition),
        order=tuple(replace(key, index=places[key.index]) for key in node.order),
        definitions=tuple(replace(one, condition=moved(one.condition, places)) for one in node.definitions),
        measures=tuple(moved(node.measures[measure], places) for measure in measures),
        type=_row(node.row, kept),
    )
    return made, _now(kept)


@_narrowed.register
def _(node: PythonCalc, wanted: frozenset[int]) -> Pruned:
    needed, width = needed_columns(node, wanted), len(node.input.row.fields)
    below, places = pruned(node.input, frozenset(place for place in needed if place < width))
    return calls_over(node, below, places, needed)


@_narrowed.register
def _(node: Replicate, wanted: frozenset[int]) -> Pruned:
    kept = _kept(wanted)
    return Replicate(_exact(node.input, [0, *(place + 1 for place in kept)])), _now(kept)


@_narrowed.register
def _(node: Sort, wanted: frozenset[int]) -> Pruned:
    below, places = pruned(node.input, wanted | {key.index for key in node.order})
    order = tuple(replace(key, index=places[key.index]) for key in node.order)
    return replace(node, input=below, order=order), places


@_narrowed.register(TableSink)
@_narrowed.register(Delivery)
def _(node: TableSink | Delivery, wanted: frozenset[int]) -> Pruned:
    width = len(node.row.fields)
    return node.with_inputs((_exact(node.input, range(width)),)), _now(range(width))


def _counted(node: Aggregate) -> Aggregate:
    """Return an aggregate that has nothing but one row (HAVING without GROUP BY) with a column."""
    count = AggregateCall("COUNT", (), BigIntType(nullable=False))
    return replace(node, calls=(count,), type=RowType.of({"rows": count.type}, nullable=False))


def _selected(node: LogicalNode, wanted: frozenset[int]) -> Pruned:
    kept = _kept(wanted)
    if len(kept) == len(node.row.fields):
        return node, _now(kept)
    names = tuple(node.row.field_names[place] for place in kept)
    return Project(node, refs(node.row, kept), names), _now(kept)


def _kept(wanted: frozenset[int]) -> list[int]:
    return sorted(wanted) or [0]


def _now(kept: Iterable[int]) -> Places:
    return {old: new for new, old in enumerate(kept)}


def _row(row: RowType, kept: Iterable[int]) -> RowType:
    return RowType(tuple(row.fields[place] for place in kept), nullable=False)


def _used(expressions: Iterable[Expression]) -> frozenset[int]:
    return frozenset(place for expression in expressions for place in references(expression))


def _calls(first: int, count: int, wanted: frozenset[int], *, needed: bool | None = None) -> list[int]:
    """Return the calls whose results, which begin at place `first`, are wanted; one if there must be one."""
    calls = [call for call in range(count) if first + call in wanted]
    must = first == 0 if needed is None else needed
    return calls or ([0] if must and count else [])


def _read(calls: Iterable[AggregateCall]) -> set[int]:
    return {place for call in calls for place in columns_of(call)}
