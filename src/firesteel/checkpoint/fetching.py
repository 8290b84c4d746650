"""Fetches runs from an object store while earlier runs are being used.

Each response of an object store takes tens of milliseconds, even for a small object. A copy that must catch up with
hundreds of small runs would mostly wait. A disk responds at once, so nothing is fetched ahead from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from firesteel.checkpoint.objects import Storage
from firesteel.state.live.durable import RunRef

AT_ONCE: Final = 8
AHEAD_BYTES: Final = 16 << 20
"""How many bytes can be in flight or waiting. A larger run is fetched alone, on request."""


@contextmanager
def fetching_ahead(storage: Storage, runs: Sequence[RunRef]) -> Iterator[Storage]:
    """Yield a view of `storage` that fetches these runs ahead, in this order.

    The contents and the errors do not change: a run that could not be fetched fails when it is requested. Other
    objects, and runs that are requested again, are fetched on request.
    """
    if storage.is_local or len(runs) < 2:
        yield storage
        return
    threads = ThreadPoolExecutor(min(AT_ONCE, len(runs)), "firesteel-fetch")
    try:
        yield _Ahead(storage, runs, threads)
    finally:
        threads.shutdown(cancel_futures=True)


class _Ahead(Storage):
    def __init__(self, storage: Storage, runs: Iterable[RunRef], threads: ThreadPoolExecutor) -> None:
        super().__init__(storage.url, None, storage._store)
        self._storage = storage
        self._threads = threads
        self._next = deque(run for run in runs if run.size <= AHEAD_BYTES)
        self._under_way: dict[str, tuple[int, Future[bytes]]] = {}
        self._bytes = 0
        self._fill()

    def get(self, path: str) -> bytes:
        """Return an object's bytes; raises NotFound."""
        if path not in self._under_way:
            return self._storage.get(path)
        size, fetched = self._under_way.pop(path)
        data = fetched.result()
        self._bytes -= size
        self._fill()
        return data

    def chunks(self, path: str) -> Iterator[bytes]:
        """Return an object's bytes in parts; raises NotFound."""
        return self._storage.chunks(path)

    def _fill(self) -> None:
        while self._next and self._bytes + self._next[0].size <= AHEAD_BYTES:
            run = self._next.popleft()
            self._bytes += run.size
            self._under_way[run.path] = run.size, self._threads.submit(self._storage.get, run.path)
