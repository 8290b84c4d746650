"""A store of state in a dict, with the interface of a working copy's reader."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from typing import Any

from firesteel.functions.windows import WINDOW_CODEC
from firesteel.runtime.timers import TimerQueue
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.values.chunks import Entry


class MemoryReader:
    """A snapshot of the store; it counts what is read of it."""

    def __init__(self, entries: dict[bytes, bytes]) -> None:
        self._entries = entries
        self._keys = sorted(entries)
        self.gets = 0
        self.scans = 0
        self.batches = 0

    def get(self, key: bytes) -> bytes | None:
        self.gets += 1
        return self._entries.get(key)

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        self.batches += 1
        return {key: self._entries[key] for key in keys if key in self._entries}

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        self.scans += 1
        for key in self._keys[bisect.bisect_left(self._keys, start or prefix) :]:
            if not key.startswith(prefix):
                return
            yield key, self._entries[key]


class CountingBackend(KeyedStateBackend):
    """A backend that counts how often it moved changes out of memory."""

    spills = 0

    def spill(self) -> None:
        self.spills += 1
        super().spill()


class MemoryStore:
    """State that survives epochs and restarts; `backend` is the operator subtask that runs on it now.

    `now` is the processing time that the next epoch begins with.
    """

    def __init__(
        self, max_parallelism: int = 128, cache_limit: int = 1000, memory_limit: int | None = None
    ) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.schemas: dict[str, dict[str, Any]] = {}
        self.now = 0
        self._max_parallelism = max_parallelism
        self._limits = {"cache_limit": cache_limit, "memory_limit": memory_limit}
        self.backend = CountingBackend(max_parallelism, WINDOW_CODEC)
        self.restart()

    def restart(self) -> None:
        """Lose the epoch and everything in memory."""
        self.backend.close()
        self.backend = CountingBackend(self._max_parallelism, WINDOW_CODEC, **self._limits)
        self.backend.restore_schemas(self.schemas)
        self.queue = TimerQueue(self.backend, "event")
        self.begin(keep=False)

    def begin(self, keep: bool) -> None:
        self.reader = MemoryReader(dict(self.entries))
        self.backend.begin(self.reader, keep, self.now)
        self.queue.begin()

    def commit(self) -> list[Entry]:
        """Store the epoch and return what it changed."""
        changes = list(self.backend.changes())
        assert [key for key, _ in changes] == sorted({key for key, _ in changes})
        self.apply(changes)
        self.schemas = self.backend.schemas()
        return changes

    def next_epoch(self, keep: bool = True) -> list[Entry]:
        changes = self.commit()
        self.begin(keep)
        return changes

    def apply(self, changes: Iterable[Entry]) -> None:
        for key, value in changes:
            if value is None:
                self.entries.pop(key, None)
            else:
                self.entries[key] = value
