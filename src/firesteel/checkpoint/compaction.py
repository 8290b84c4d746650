"""Compaction: merges layers of state into fewer layers, in parallel to the epochs.

The sizes of the layers decide which ones are merged, as in a log-structured merge tree (size-tiered): all from the
oldest one that is not much larger than all newer ones together. So an entry is rewritten about log(size of the state /
size of an epoch) times, and a state consists of about as many layers.

A merge is cut by key groups into tasks of about equal size, which read and write part by part. The files of a task are
unused until a manifest names them; the merged runs stay until retention removes the manifests that name them.

Entries that have expired by the end of the last merged epoch are dropped, or become deletes if older layers may hold
the key. Epochs remove expired entries too (`firesteel.state.live.sweeping`); a working copy keeps them until then. That
is why Flink's `ReturnExpiredIfNotCleanedUp` says "if".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.checkpoint.arranged import read_changes, write_level
from firesteel.checkpoint.fetching import fetching_ahead
from firesteel.checkpoint.manifest import Layer, Manifest, runs_of
from firesteel.checkpoint.newest import newest_entries
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import runs_within
from firesteel.checkpoint.runs import RUN_SCHEMA, batches_of, write_batches
from firesteel.state.arrangements.changes import in_turn
from firesteel.state.arrangements.layout import Layout, decode_layout
from firesteel.state.arrangements.levels import CHUNK_ROWS, merged_levels
from firesteel.state.arrangements.names import operator_of
from firesteel.state.arrangements.shelf import MappedFiles
from firesteel.state.keys.groups import key_group_range
from firesteel.state.live.durable import RunRef
from firesteel.state.values.evolution import Converter
from firesteel.state.values.expiry import STAMP_SIZE, ExpiryRule

RATIO: Final = 2
"""An older layer joins a merge if it is at most this many times as large as all newer ones together."""

TASK_BYTES: Final = 16 << 20
"""The approximate number of bytes of (compressed) runs that one task merges."""


@dataclass(frozen=True, slots=True)
class MergeTask:
    """Merge the entries of `layers` (oldest first) in key groups `first_group` to `last_group` of one operator.

    `whole` means that these are all existing layers, so deletes can be dropped. `epoch` names the files. It is not
    committed when the merge starts, so that a driver that is behind, and knows neither that epoch nor these files, does
    not treat them as leftovers. `rules` decide which entries are expired at `now` (milliseconds); `converters` convert
    stored values to another type. `layout` is that of an arrangement (None: the state consists of entries).
    """

    operator: str
    layers: tuple[Layer, ...]
    whole: bool
    first_group: int
    last_group: int
    epoch: int
    now: int
    rules: tuple[ExpiryRule, ...] = ()
    converters: tuple[Converter, ...] = ()
    layout: Layout | None = None
    max_parallelism: int = 0


@dataclass(frozen=True, slots=True)
class Compaction:
    """All layers, by operator, of the state up to epoch `up_to` of a lineage, after a merge."""

    lineage: str
    up_to: int
    layers: dict[str, list[Layer]]

    @property
    def paths(self) -> set[str]:
        """The paths of its runs."""
        return {run.path for run in runs_of(self.layers)}


def to_merge(layers: list[Layer]) -> int:
    """Return how many of the last of these layers to merge: 0, or at least two.

    These are all from the oldest one that is at most `RATIO` times as large as all newer ones together: a small epoch
    after a large one does not stop the merge. A layer that stays is more than `RATIO` times as large as all that follow
    it, so the number of layers is logarithmic however epochs vary. The oldest of the merged layers grows by half.

    >>> sizes = lambda *sizes: [Layer(n, n, False, [RunRef("", 1, size, "", n, "", 0, 0, 0)])
    ...                         for n, size in enumerate(sizes, 1)]
    >>> to_merge(sizes(900, 300, 10, 10, 10)), to_merge(sizes(50, 20, 10, 10)), to_merge(sizes(5))
    (3, 4, 0)
    >>> to_merge(sizes(900, 10, 300, 10))
    3
    """
    newer = count = 0
    for number, layer in enumerate(reversed(layers), 1):
        if number > 1 and layer.size <= RATIO * newer:
            count = number
        newer += layer.size
    return count


def merge_tasks(
    operator: str,
    layers: list[Layer],
    count: int,
    *,
    max_parallelism: int,
    parallelism: int,
    epoch: int,
    now: int,
    rules: tuple[ExpiryRule, ...] = (),
    converters: tuple[Converter, ...] = (),
    layout: Layout | None = None,
) -> list[MergeTask]:
    """Cut the merge of the last `count` layers by key groups into one task per subtask, or more if it is large."""
    merged = tuple(layers[-count:])
    size = sum(layer.size for layer in merged)
    parts = min(max(parallelism, -(-size // TASK_BYTES)), max_parallelism)
    ranges = (key_group_range(part, parts, max_parallelism) for part in range(parts))
    whole = count == len(layers)
    return [
        MergeTask(
            operator,
            merged,
            whole,
            groups.start,
            groups.stop - 1,
            epoch,
            now,
            rules,
            converters,
            layout,
            max_parallelism,
        )
        for groups in ranges
    ]


def tasks_after(
    manifest: Manifest,
    state: str,
    layers: list[Layer],
    count: int,
    *,
    rules: tuple[ExpiryRule, ...] = (),
    converters: tuple[Converter, ...] = (),
) -> list[MergeTask]:
    """Return the tasks (see `merge_tasks`) of a merge of a state after a manifest's epoch.

    `state` is the id of an operator (its entries), or the name of an arrangement (see `checkpoint.arranged`).
    """
    snapshot = manifest.operators[operator_of(state)]
    arranged = snapshot.arrangements.get(state)
    return merge_tasks(
        state,
        layers,
        count,
        max_parallelism=snapshot.max_parallelism or manifest.max_parallelism,
        parallelism=snapshot.parallelism,
        epoch=manifest.epoch + 1,
        now=manifest.processing_time,
        rules=rules,
        converters=converters,
        layout=None if arranged is None else decode_layout(arranged),
    )


def merge(storage: Storage, task: MergeTask) -> RunRef | None:
    """Run a task: write what the layers come to as a run; return None if nothing is left.

    Of entries that is the newest one of each key. Raises StateCorruptedError, which names the run, if one is missing or
    damaged.
    """
    path = f"runs/{task.operator}/{task.epoch:012d}-m{task.first_group:05d}.run"
    if task.layout is not None:
        return _merge_arranged(storage, task, task.layout, path)
    newest = newest_entries(storage, task.layers, (task.first_group, task.last_group))
    return write_batches(
        storage,
        path,
        batches_of(_merged(part, task) for part in newest),
        epoch=task.layers[-1].last,
        operator=task.operator,
        subtask=0,
        first_group=task.first_group,
        last_group=task.last_group,
    )


def _merged(newest: pa.Table, task: MergeTask) -> pa.Table:
    entries = _converted(without_expired(newest, task.rules, task.now), task)
    return entries.filter(pc.is_valid(entries.column(1))) if task.whole else entries


def _merge_arranged(storage: Storage, task: MergeTask, layout: Layout, path: str) -> RunRef | None:
    groups = range(task.first_group, task.last_group + 1)
    runs = runs_within(task.layers, (task.first_group, task.last_group))
    with fetching_ahead(storage, runs) as source:
        changes = read_changes(source, runs, layout, groups, task.max_parallelism, MappedFiles())
    levels, drops = in_turn(changes)
    return write_level(
        storage,
        path,
        layout,
        merged_levels(layout, levels, CHUNK_ROWS, whole=task.whole),
        () if task.whole else drops,
        state=task.operator,
        epoch=task.layers[-1].last,
        subtask=0,
        groups=groups,
        max_parallelism=task.max_parallelism,
    )


def merged_layer(tasks: list[MergeTask], runs: list[RunRef | None]) -> Layer:
    """Return the layer that replaces the merged ones, from the runs of the tasks."""
    layers = tasks[0].layers
    written = sorted((run for run in runs if run is not None), key=lambda run: run.first_group)
    return Layer(layers[0].first, layers[-1].last, tasks[0].whole, written)


def without_expired(table: pa.Table, rules: Sequence[ExpiryRule], now: int) -> pa.Table:
    """Return entries; those expired at `now` (milliseconds) become deletes, and lists lose their expired elements."""
    values = table.column(1)
    for rule in rules:
        mine = pc.starts_with(table.column(0), rule.prefix)
        if rule.in_chunks:
            values = _each(values, mine, partial(rule.kept, now_ms=now))
        else:
            limit = pa.scalar(rule.limit(now), pa.binary())
            over = pc.less_equal(pc.binary_slice(values, 0, STAMP_SIZE), limit)
            values = pc.if_else(pc.and_kleene(mine, over), pa.scalar(None, pa.binary()), values)
    return table.set_column(1, RUN_SCHEMA.field(1), values)


def _converted(table: pa.Table, task: MergeTask) -> pa.Table:
    """Return the entries, with values of changed types converted."""
    for converter in task.converters:
        if not converter.keeps_bytes:
            mine = pc.starts_with(table.column(0), converter.prefix).to_pylist()
            keys, values = (column.to_pylist() for column in table.columns)
            values = [
                converter.convert(key, value) if own and value is not None else value
                for key, value, own in zip(keys, values, mine, strict=True)
            ]
            table = table.set_column(1, RUN_SCHEMA.field(1), pa.array(values, pa.binary()))
    return table


def _each(
    values: pa.ChunkedArray, mine: pa.ChunkedArray, change: Callable[[bytes], bytes | None]
) -> pa.Array:
    changed = [
        change(value) if own and value is not None else value
        for value, own in zip(values.to_pylist(), mine.to_pylist(), strict=True)
    ]
    return pa.array(changed, pa.binary())
