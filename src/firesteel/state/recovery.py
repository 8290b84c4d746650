"""Bringing a working copy up to the committed epoch.

Usually it lacks one run, whose handle the driver passes along. A copy that lacks more (a new machine, a worker that was away,
a changed parallelism) reads which runs there are from the manifests. Runs are applied epoch by epoch in order; of runs that
other key-group ranges share with this one, only the entries of its own groups are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from firesteel.state.manifest import ManifestReader
from firesteel.state.runs import Entry, RunRef, read_run
from firesteel.state.storage import Storage
from firesteel.state.store import WorkingStore

BROADCAST_GROUP: Final = 0xFFFF


def catch_up(
    store: WorkingStore,
    storage: Storage,
    operator: str,
    groups: tuple[int, int],
    committed: int,
    run: RunRef | None,
) -> None:
    """Apply to `store` what it lacks of the state of `operator` as of epoch `committed`.

    `groups` are the first and last key group the store holds; `run` is the subtask's own run of epoch `committed`, None if it
    had none. Raises StateCorruptedError if a run or manifest that is needed is missing or damaged.
    """
    version = store.version
    if version >= committed:
        return
    if version == committed - 1 and (run is None or (run.first_group, run.last_group) == groups):
        store.apply(committed, () if run is None else read_run(storage, run))
        return
    missing = ManifestReader(storage).runs_between(operator, version, committed)
    for epoch in sorted({ref.epoch for ref in missing}):
        store.apply(epoch, _entries(storage, [ref for ref in missing if ref.epoch == epoch], groups))
    if store.version < committed:
        store.apply(committed, ())


def _entries(storage: Storage, refs: list[RunRef], groups: tuple[int, int]) -> Iterator[Entry]:
    first, last = groups
    for position, ref in enumerate(sorted(refs, key=lambda ref: ref.subtask)):
        if position == 0 and first <= ref.first_group and ref.last_group <= last:
            yield from read_run(storage, ref)
            continue
        for key, value in read_run(storage, ref):
            group = int.from_bytes(key[2:4], "big")
            if first <= group <= last or (group == BROADCAST_GROUP and position == 0):
                yield key, value
