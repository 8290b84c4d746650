"""Arrangements on storage: the runs of their epochs, and the merges of those.

The state of an arrangement is a state of its own in manifests, layers and compaction, beside the entries of its
operator. Its name is the operator's id, a slash and its own name (`state_name`); its runs name it as their operator. A
run holds the changes of one subtask in one epoch as Arrow batches of the layout's columns (`Layout.stored`), sorted.
The metadata of its schema has what the epoch deleted by ranges. In a run of many rows columns are packed; then the
metadata says how, and if all of them have a fixed width, that takes the place of the compression.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from firesteel.checkpoint.fetching import fetching_ahead
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import not_left_behind, runs_within
from firesteel.checkpoint.runs import open_run, write_batches
from firesteel.state.arrangements.changes import Changes
from firesteel.state.arrangements.chunk import Chunk
from firesteel.state.arrangements.drops import Drop, decode_drops, encode_drops, narrowed, widened
from firesteel.state.arrangements.hashing import first_hash
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.levels import Shelf, kept
from firesteel.state.arrangements.live import ArrangementAddress, Missing
from firesteel.state.arrangements.packing import WORTH, form_of, packed, unpacked
from firesteel.state.live.durable import RunRef

_DROPS: Final = b"firesteel:drops"
_FORM: Final = b"firesteel:form"


def write_level(
    storage: Storage,
    path: str,
    layout: Layout,
    chunks: Iterable[Chunk],
    drops: Iterable[Drop] = (),
    *,
    state: str,
    epoch: int,
    subtask: int,
    groups: range,
    max_parallelism: int,
) -> RunRef | None:
    """Write deletes and, newer than these, sorted changes in some key groups as a run.

    Return None, and write nothing, if there are none. `path` is completed as by `write_run`.
    """
    marks = narrowed(drops, *_hashes(groups, max_parallelism))
    metadata = {_DROPS: encode_drops(marks)} if marks else {}
    batches = [chunk.batch for chunk in chunks if len(chunk)]
    schema, compressed = layout.stored, True
    if sum(batch.num_rows for batch in batches) >= WORTH:
        form = form_of(batches)
        metadata[_FORM] = form
        batches = [packed(batch, form) for batch in batches]
        schema = batches[0].schema
        compressed = not all(map(_is_fixed, schema.types))
    return write_batches(
        storage,
        path,
        batches,
        epoch=epoch,
        operator=state,
        subtask=subtask,
        first_group=groups.start,
        last_group=groups.stop - 1,
        schema=schema.with_metadata(metadata or None),
        even_if_empty=bool(marks),
        compressed=compressed,
    )


def read_changes(
    storage: Storage,
    runs: Iterable[RunRef],
    layout: Layout,
    groups: range,
    max_parallelism: int,
    shelf: Shelf,
) -> list[Changes]:
    """Return what runs, oldest first, hold in some key groups, for each run that has any of it.

    Chunks go to the `shelf` as they are read.

    Raises StateCorruptedError, which names the run, if one is missing or damaged.
    """
    changes = (_changes(storage, run, layout, groups, max_parallelism, shelf) for run in runs)
    return [change for change in changes if change]


def changes_between(
    storage: Storage,
    arrangement: ArrangementAddress,
    since: int,
    until: int,
    run: RunRef | None,
    shelf: Shelf,
) -> Missing:
    """Return the changes of an arrangement after epoch `since` up to epoch `until`; see `ArrangementStore`.

    If only the subtask's own run of the last epoch is missing, no manifest is read. Raises StateCorruptedError if a run
    or manifest is missing or damaged, FencedError if that is because the job has a new driver.
    """
    owner, layout = arrangement.owner, arrangement.layout
    groups = owner.groups
    if (
        since == until - 1
        and run is not None
        and (run.first_group, run.last_group) == (groups.start, groups.stop - 1)
    ):
        return Missing(until, read_changes(storage, [run], layout, groups, owner.max_parallelism, shelf))
    with not_left_behind(storage, until):
        layers = ManifestReader(storage).layers(arrangement.state, since, until)
        runs = runs_within(layers, (groups.start, groups.stop - 1))
        first = min((layer.first for layer in layers), default=until)
        with fetching_ahead(storage, runs) as source:
            changes = read_changes(source, runs, layout, groups, owner.max_parallelism, shelf)
        return Missing(first, changes, whole=bool(layers) and layers[0].whole)


def _changes(
    storage: Storage, run: RunRef, layout: Layout, groups: range, max_parallelism: int, shelf: Shelf
) -> Changes:
    all_of_it = groups.start <= run.first_group and run.last_group < groups.stop
    hashes = _hashes(groups, max_parallelism)
    chunks = []
    with open_run(storage, run) as reader:
        metadata = reader.schema.metadata or {}
        marks, form = metadata.get(_DROPS), metadata.get(_FORM)
        for batch in reader:
            rows = (
                batch.replace_schema_metadata(None) if form is None else unpacked(batch, form, layout.stored)
            )
            chunk = Chunk(layout, rows)
            if not all_of_it:
                chunk = chunk.between(*hashes)
            if len(chunk):
                chunks.append(kept(shelf, chunk))
    return Changes(tuple(chunks), () if marks is None else widened(decode_drops(marks), *hashes))


def _is_fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind))


def _hashes(groups: range, max_parallelism: int) -> tuple[int, int]:
    """Return the first hash of some key groups, and the first one after them."""
    return first_hash(groups.start, max_parallelism), first_hash(groups.stop, max_parallelism)
