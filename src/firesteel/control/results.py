"""From a collect sink's committer to whoever iterates over the results."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any, Final

_END: Final = object()


class ResultQueue:
    """Records in order of commit; iteration blocks until there are more or the queue is closed."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def put(self, records: list[Any]) -> None:
        """Add the records of a committed epoch."""
        self._queue.put(records)

    def close(self) -> None:
        """No more records will come."""
        self._queue.put(_END)

    def __iter__(self) -> Iterator[Any]:
        while (records := self._queue.get()) is not _END:
            yield from records
        self._queue.put(_END)
