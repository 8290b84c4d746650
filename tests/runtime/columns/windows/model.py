"""What windows mean, row by row, as Flink computes it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import WindowShape

Row = tuple[Any, int, int | None]
"""Key, time, value."""


def windows_of(shape: WindowShape, time: int) -> Iterator[tuple[int, int]]:
    """Yield the windows of a time."""
    if shape.kind == "cumulate":
        start = time - (time - shape.offset) % shape.size
        end = start + shape.slide
        while end <= start + shape.size:
            if end > time:
                yield start, end
            end += shape.slide
        return
    start = time - (time - shape.offset) % shape.slide
    while start + shape.size > time:
        yield start, start + shape.size
        start -= shape.slide


class Windows:
    """Windows of one kind; `results` are (key, start, end, values of the window in order)."""

    def __init__(self, shape: WindowShape) -> None:
        self._shape = shape
        self._watermark = MIN_WATERMARK
        self._open: dict[tuple[Any, int, int], list[int | None]] = defaultdict(list)
        self.results: list[tuple[Any, int, int, list[int | None]]] = []
        self.late = 0

    def row(self, key: Any, time: int, value: int | None) -> None:
        """Take a row."""
        alive = [(start, end) for start, end in windows_of(self._shape, time) if end - 1 > self._watermark]
        if not alive:
            self.late += 1
        for start, end in alive:
            self._open[key, start, end].append(value)

    def advance(self, watermark: int) -> None:
        """Take a watermark."""
        self._watermark = max(watermark, self._watermark)
        for key, start, end in [*self._open]:
            if end - 1 <= self._watermark:
                self.results.append((key, start, end, self._open.pop((key, start, end))))


class Sessions(Windows):
    """Sessions, merged as rows come."""

    def row(self, key: Any, time: int, value: int | None) -> None:
        start, end, values = time, time + self._shape.size, [value]
        for other in [*self._open]:
            if other[0] == key and other[1] <= end and other[2] >= start:
                start, end = min(start, other[1]), max(end, other[2])
                values = self._open[other] + values
        if end - 1 <= self._watermark:
            self.late += 1
            return
        for other in [*self._open]:
            if other[0] == key and other[1] >= start and other[2] <= end:
                del self._open[other]
        self._open[key, start, end] = values


class RowSessions(Sessions):
    """Sessions whose rows are kept: a value is a whole row."""

    def row(self, key: Any, time: int, value: Any) -> None:
        """Take a row."""
        super().row(key, time, (key, time, value))  # type: ignore[arg-type]

    def rows(self) -> Counter[tuple[Any, ...]]:
        """Return all rows with their sessions, and the last millisecond of these."""
        return Counter(
            (*row, start, end, end - 1)  # type: ignore[misc]
            for _, start, end, rows in self.results
            for row in rows
        )


def model_of(shape: WindowShape) -> Windows:
    """Return the model of windows of a shape."""
    return Sessions(shape) if shape.kind == "session" else Windows(shape)


def aggregated(results: Iterable[tuple[Any, int, int, list[int | None]]]) -> Counter[tuple[Any, ...]]:
    """Return rows of key, COUNT(*), SUM, MAX, start and end."""
    rows = Counter[tuple[Any, ...]]()
    for key, start, end, values in results:
        present = [value for value in values if value is not None]
        total = sum(present) if present else None
        rows[key, len(values), total, max(present, default=None), start, end] += 1
    return rows
