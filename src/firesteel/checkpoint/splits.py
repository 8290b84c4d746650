"""How far a source's splits have been read, stored so that an epoch costs what it changes.

Of a split that is being read a manifest holds everything. Of one that has been read to its end only its id and where
that was matter: the id, since a source must not find the split again. Those that ended lately are in the manifest;
`MOST_RECENT` of them become a run, and runs of about one size are merged. So of n splits that have ended a manifest
names about log(n) runs, and each split is rewritten about as often.
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
    """Return the splits that have been read to their end, with the positions of these ends.

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
    """Return how far a source has been read after an epoch in which splits have `ended`; writes a run now and then.

    The run's file is named by the epoch, which is not committed yet, and belongs to nobody until a manifest names it.
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
