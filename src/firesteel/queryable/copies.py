"""The states of one operator on this machine's disk, moved from epoch to epoch while they are read."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.checkpoint.following import Step
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import read_at
from firesteel.common.collector import collector_waits
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.disk.copy import Reader, open_working_store
from firesteel.state.live.durable import StateAddress


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The states of one operator after one epoch; later epochs do not change it.

    `entries` are None if it has arrangements alone. A transaction of LMDB serves one thread at a time, so who reads
    holds `turn`. `decoders` are those of its states that have been read, by the id of the state and the reader's form:
    to make one costs more than to read a key.
    """

    saved: SavedState
    operator: SavedOperator
    entries: Reader | None
    arrangements: Mapping[str, Arrangement]
    turn: threading.Lock = field(default_factory=threading.Lock)
    decoders: dict[tuple[int, type], Any] = field(default_factory=dict)

    @property
    def epoch(self) -> int:
        """The epoch."""
        return self.saved.manifest.epoch

    @property
    def time(self) -> int:
        """When the epoch was committed (milliseconds)."""
        return self.saved.manifest.created_at

    @property
    def now(self) -> int:
        """The processing time of the epoch (milliseconds), by which values expire."""
        return self.saved.manifest.processing_time


class OperatorCopy:
    """A copy of all states of one operator in one lineage.

    It takes over what epochs changed, so it costs in proportion to that; only the first epoch costs all of the state.
    One thread at a time may use it.
    """

    def __init__(self, storage: Storage, directory: Path, lineage: str) -> None:
        self.directory = directory
        self.lineage = lineage
        self._storage = storage
        self._store = CheckpointedState(storage.url)
        self._layouts: Mapping[str, bytes] = {}
        self._live = LiveArrangements("a reader", {})
        self._arrangements: dict[str, Arrangement] = {}

    def at(self, saved: SavedState, operator: SavedOperator) -> Snapshot:
        """Bring the copy to an epoch, which is not before its last one, and return that.

        Raises StateCorruptedError or FencedError if a file is missing, as it is if retention was faster. What has been
        taken over by then stays.
        """
        manifest, most = saved.manifest, operator.max_parallelism
        address = StateAddress(self.lineage, operator.id, 0, 0, most - 1, most)
        entries = None
        if operator.snapshot.states:
            store = open_working_store(self.directory, self.lineage, 0, most - 1)
            with collector_waits():
                entries = read_at(store, self._storage, operator.id, (0, most - 1), manifest.epoch, None)
        if operator.snapshot.arrangements != self._layouts:
            self._declare(operator)
        self._live.begin(self._store, address, manifest.epoch, {}, manifest.processing_time)
        frozen = {name: _frozen(live, manifest.processing_time) for name, live in self._arrangements.items()}
        return Snapshot(saved, operator, entries, frozen)

    def step_to(self, saved: SavedState, operator: SavedOperator) -> Step:
        """Return what another process does to bring the entries of the copy to an epoch."""
        manifest = saved.manifest
        return Step(
            self._storage.url,
            str(self.directory),
            self.lineage,
            operator.id,
            operator.max_parallelism,
            manifest.epoch,
        )

    def _declare(self, operator: SavedOperator) -> None:
        """Begin with empty arrangements: the program has others now."""
        self._layouts = operator.snapshot.arrangements
        self._live = LiveArrangements(operator.who, {})
        self._arrangements = {
            found.name: self._live.declare(found.name, found.layout) for found in operator.arrangements
        }


def _frozen(live: Arrangement, now: int) -> Arrangement:
    """Return an arrangement with the committed rows of another, which may go on."""
    frozen = Arrangement(live.layout, live.shelf)
    frozen.restore(live.committed())
    frozen.now = now
    return frozen
