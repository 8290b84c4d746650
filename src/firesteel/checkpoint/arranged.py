"""Arrangements on storage: the runs of their epochs, and the merges of those.

The state of an arrangement is a state of its own in manifests, layers and compaction, beside the entries of its
operator. Its name is the operator's id, a slash and its own name (`state_name`); its runs name it as their operator. A
run holds the changes of one subtask in one epoch as Arrow batches of the layout's columns (`Layout.stored`), sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firesteel.checkpoint.fetching import fetching_ahead
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import not_left_behind, runs_within
from firesteel.checkpoint.runs import read_batches, write_batches
from firesteel.state.arrangements.chunk import Chunk
from firesteel.state.arrangements.hashing import first_hash
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.levels import Level, Shelf
from firesteel.state.arrangements.live import Missing
from firesteel.state.arrangements.names import state_name
from firesteel.state.live.durable import RunRef, StateAddress


def write_level(
    storage: Storage,
    path: str,
    layout: Layout,
    chunks: Iterable[Chunk],
    *,
    state: str,
    epoch: int,
    subtask: int,
    groups: range,
) -> RunRef | None:
    """Write sorted changes in some key groups as a run; return None, and write nothing, if there are none.

    `path` is completed as by `write_run`.
    """
    return write_batches(
        storage,
        path,
        (chunk.batch for chunk in chunks if len(chunk)),
        epoch=epoch,
        operator=state,
        subtask=subtask,
        first_group=groups.start,
        last_group=groups.stop - 1,
        schema=layout.stored,
    )


def read_levels(
    storage: Storage,
    runs: Iterable[RunRef],
    layout: Layout,
    groups: range,
    max_parallelism: int,
    shelf: Shelf,
) -> list[Level]:
    """Return the changes that runs, oldest first, hold in some key groups: a level for each run that has any.

    Chunks go to the `shelf` as they are read.

    Raises StateCorruptedError, which names the run, if one is missing or damaged.
    """
    levels = (
        tuple(
            Chunk(layout, shelf.keep(chunk.batch))
            for chunk in _chunks(storage, run, layout, groups, max_parallelism)
        )
        for run in runs
    )
    return [level for level in levels if level]


def changes_between(
    storage: Storage,
    address: StateAddress,
    name: str,
    layout: Layout,
    since: int,
    until: int,
    run: RunRef | None,
    shelf: Shelf,
) -> Missing:
    """Return the changes of an arrangement after epoch `since` up to epoch `until`; see `ArrangementStore`.

    If only the subtask's own run of the last epoch is missing, no manifest is read. Raises StateCorruptedError if a run
    or manifest is missing or damaged, FencedError if that is because the job has a new driver.
    """
    groups, state = address.groups, state_name(address.operator_id, name)
    if (
        since == until - 1
        and run is not None
        and (run.first_group, run.last_group) == (groups.start, groups.stop - 1)
    ):
        return Missing(until, read_levels(storage, [run], layout, groups, address.max_parallelism, shelf))
    with not_left_behind(storage, until):
        layers = ManifestReader(storage).layers(state, since, until)
        runs = runs_within(layers, (groups.start, groups.stop - 1))
        first = min((layer.first for layer in layers), default=until)
        with fetching_ahead(storage, runs) as source:
            return Missing(first, read_levels(source, runs, layout, groups, address.max_parallelism, shelf))


def _chunks(
    storage: Storage, run: RunRef, layout: Layout, groups: range, max_parallelism: int
) -> Iterator[Chunk]:
    all_of_it = groups.start <= run.first_group and run.last_group < groups.stop
    first, end = first_hash(groups.start, max_parallelism), first_hash(groups.stop, max_parallelism)
    for batch in read_batches(storage, run):
        chunk = Chunk(layout, batch) if all_of_it else Chunk(layout, batch).between(first, end)
        if len(chunk):
            yield chunk
