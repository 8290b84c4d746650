"""The results that a program gets from a job that collects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self


class CloseableIterator:
    """The records of a running job, as they become visible. Close it, or use it in a `with`, to end the job.

    >>> with CloseableIterator(iter([1, 2]), lambda: None) as results:
    ...     list(results)
    [1, 2]
    """

    def __init__(self, values: Iterator[Any], close: Callable[[], None]) -> None:
        self._values = values
        self._close = close

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        return next(self._values)

    def next(self) -> Any:
        """Wait for the next record and return it. Raises StopIteration at the end, or the error of a failed job."""
        return next(self._values)

    def close(self) -> None:
        """End the job if it still runs, and release its resources."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
