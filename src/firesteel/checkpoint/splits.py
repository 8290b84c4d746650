"""The progress of a source's splits, stored so that the cost of an epoch depends only on its changes.

A manifest holds everything about a split that is being read. For a finished split only its id and its end position
matter: the id, since a source must not discover the split again. Recently finished splits are in the manifest;
`MOST_RECENT` of them become a run, and runs of similar size are merged. So for n finished splits a manifest names about
log(n) runs, and each split is rewritten about log(n) times.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from firesteel.checkpoint.manifest import SourceProgress, SplitPosition
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import read_run, write_run
from firesteel.state.live.durable import RunRef

MOST_RECENT: Final = 256
RATIO: Final = 2
"""An older run is merged with a newer one if it is at most this many times as large."""

_position: Final = struct.Struct(">q")


def finished_splits(storage: Storage, progress: SourceProgress) -> dict[str, int]:
    """Return the finished splits with their end positions.

    Raises StateCorruptedError if a run is missing or damaged.
    """
    found: dict[str, int] = {}
    for run in progress.finished:
        found.update(_read(storage, run))
    found.update(progress.recent)
    return found


def progressed(
    storage: Storage,
    before: SourceProgress,
    unfinished: dict[str, SplitPosition],
    ended: Mapping[str, int],
    *,
    operator: str,
    epoch: int,
) -> SourceProgress:
    """Return the progress of a source after an epoch in which the splits `ended` were finished; sometimes write a run.

    The run's file is named after the epoch, which is not committed yet, and is unused until a manifest names it.
    """
    recent = {**before.recent, **ended}
    if len(recent) <= MOST_RECENT:
        return SourceProgress(unfinished, recent, before.finished)
    runs, entries = [*before.finished], recent
    while runs and runs[-1].entries <= RATIO * len(entries):
        entries = {**_read(storage, runs.pop()), **entries}
    return SourceProgress(unfinished, {}, [*runs, _written(storage, entries, operator, epoch)])


def _written(storage: Storage, entries: dict[str, int], operator: str, epoch: int) -> RunRef:
    ordered = sorted((split_id.encode(), _position.pack(end)) for split_id, end in entries.items())
    path = f"runs/{operator}/{epoch:012d}-splits.run"
    run = write_run(
        storage, path, ordered, epoch=epoch, operator=operator, subtask=0, first_group=0, last_group=0
    )
    assert run is not None, "a run of no splits"
    return run


def _read(storage: Storage, run: RunRef) -> dict[str, int]:
    return {
        key.decode(): _position.unpack(value)[0] for key, value in read_run(storage, run) if value is not None
    }
