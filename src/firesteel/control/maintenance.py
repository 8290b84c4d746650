"""Background work on a job's state: compaction, removal of unneeded files, savepoints.

All of it happens on one separate thread, one task after another, so that nothing is removed that a savepoint still
copies or a compaction still reads. The loop reports each published epoch (`after_epoch`) and takes the result of a
compaction into the next manifest (`take_compaction`). A compaction or removal that fails does not affect the job: it is
logged, and retried later.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from firesteel.checkpoint.compaction import Compaction, MergeTask, merged_layer, tasks_after, to_merge
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import Layer, Manifest
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage
from firesteel.checkpoint.savepoint import new_savepoint
from firesteel.common.errors import FiresteelError
from firesteel.common.log_context import carrying
from firesteel.control.executor import Executor
from firesteel.state.arrangements.names import operator_of
from firesteel.state.values.expiry import ExpiryRule, expiry_rule

_log = logging.getLogger("firesteel.state")

STAGED_AGE_MS: Final = 3_600_000
"""A staged file that is older than this is abandoned."""


@dataclass(frozen=True, slots=True)
class MaintenancePolicy:
    """How often state is compacted and cleaned, in epochs. `inline` does it between two epochs, for tests that need to
    know when.
    """

    compact_every: int = 100
    collect_every: int = 100
    inline: bool = False


class Maintenance:
    """The background work on one job's state directory; see the module. `close` ends it after the running task."""

    def __init__(
        self,
        storage: Storage,
        executor: Executor,
        policy: MaintenancePolicy,
        savepoint_dir: str | None = None,
    ) -> None:
        self._savepoint_dir = savepoint_dir
        self._storage = storage
        self._executor = executor
        self._policy = policy
        self._pool = None if policy.inline else ThreadPoolExecutor(1, "firesteel-maintenance")
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._busy = False
        self._ready: Compaction | None = None
        self._pinned: set[str] = set()
        self._compacted_at = 0
        self._collected = 0

    def after_epoch(self, manifest: Manifest) -> None:
        """Start the work that is due after a published epoch, unless some is still running."""
        since = max(manifest.compacted, self._compacted_at)
        compact = manifest.epoch - since >= self._policy.compact_every
        collect = manifest.epoch - self._collected >= self._policy.collect_every
        if self._busy or self._ready is not None or not (compact or collect):
            return
        self._busy = True
        if compact:
            self._compacted_at = manifest.epoch
        if collect:
            self._collected = manifest.epoch
        self._submit(lambda: self._maintain(manifest, compact, collect))

    def take_compaction(self, lineage: str) -> Compaction | None:
        """Return the result of a compaction of this lineage since the last call, for the next manifest."""
        with self._lock:
            ready, self._ready = self._ready, None
        return ready if ready is not None and ready.lineage == lineage else None

    def savepoint(self, epoch: int, target: str | None) -> Future[str]:
        """Write a savepoint of a published epoch into a new directory below `target` (default: the job's directory for
        savepoints, ``savepoints`` in the state directory if it has none); the result is its URL.
        """
        return self._submit(lambda: new_savepoint(self._storage, epoch, target or self._savepoint_dir))

    def close(self) -> None:
        """Wait for the running task, and drop all that have not begun, except savepoints."""
        self._closing.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    def _submit(self, work: Callable[[], Any]) -> Future[Any]:
        if self._pool is not None:
            return self._pool.submit(carrying(work))
        done: Future[Any] = Future()
        try:
            done.set_result(work())
        except FiresteelError as error:
            done.set_exception(error)
        return done

    def _maintain(self, manifest: Manifest, compact: bool, collect: bool) -> None:
        try:
            if compact:
                self._attempt("compact the state", lambda: self._compact(manifest))
            if collect:
                self._attempt("remove what is not needed", lambda: self._collect(manifest.epoch))
        finally:
            self._busy = False

    def _attempt(self, what: str, work: Callable[[], None]) -> None:
        """Do some work and log its errors; they do not affect the job."""
        if self._closing.is_set():
            return
        try:
            work()
        except FiresteelError as error:
            _log.warning("could not %s; it is tried again later: %s", what, error)
        except Exception:
            _log.exception("could not %s; it is tried again later", what)

    def _collect(self, epoch: int) -> None:
        collect_garbage(self._storage, epoch, self._pinned)
        self._storage.sweep_staged(STAGED_AGE_MS)

    def _compact(self, manifest: Manifest) -> None:
        compaction = self._compacted(manifest)
        if compaction is None:
            return
        with self._lock:
            self._ready = compaction
            self._pinned = compaction.paths

    def _compacted(self, manifest: Manifest) -> Compaction | None:
        reader = ManifestReader(self._storage)
        layers = reader.all_layers(0, manifest.epoch)
        for state, found in layers.items():
            count = to_merge(found)
            if not count:
                continue
            rules = _rules(manifest.operators[operator_of(state)].states)
            tasks = tasks_after(manifest, state, found, count, rules=rules)
            merged = self._merge(tasks)
            if merged is None:
                return None
            layers[state] = [*found[:-count], merged]
        return Compaction(manifest.lineage, manifest.epoch, layers)

    def _merge(self, tasks: list[MergeTask]) -> Layer | None:
        """Merge task by task; return None if the job ends in the meantime."""
        runs = []
        for task in tasks:
            if self._closing.is_set():
                return None
            runs.append(self._executor.merge(task))
        return merged_layer(tasks, runs)


def _rules(states: dict[str, dict[str, Any]]) -> tuple[ExpiryRule, ...]:
    return tuple(rule for schema in states.values() if (rule := expiry_rule(schema)) is not None)
