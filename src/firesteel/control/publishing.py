"""The publishing of the last committed epoch, by the loop's thread or beside the next epoch."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from firesteel.common.log_context import carrying


class Publishing:
    """Publishes epochs, one after the other.

    Contract: `begin` may be followed by `finish` only, with the same `publish`, which returns or raises what came of
    it. `finish` alone publishes on the thread that calls it. Call `close` at the end: it waits for what has begun.

    >>> publishing, shown = Publishing(), []
    >>> publishing.begin(lambda: shown.append("epoch 1"))
    >>> moment = publishing.finish(lambda: shown.append("not needed"))
    >>> shown
    ['epoch 1']
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._begun: Future[float] | None = None

    def begin(self, publish: Callable[[], None]) -> None:
        """Publish in another thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "firesteel-publishing")
        self._begun = self._pool.submit(_timed, carrying(publish))

    def finish(self, publish: Callable[[], None]) -> float:
        """Return when all is published: the moment of that, on the clock `time.perf_counter`."""
        begun, self._begun = self._begun, None
        return _timed(publish) if begun is None else begun.result()

    def close(self) -> None:
        """Wait for what has begun."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)


def _timed(publish: Callable[[], None]) -> float:
    publish()
    return time.perf_counter()
