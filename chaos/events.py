"""Input that arrives file by file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

FILE_MS = 1_000
"""The time span of the events of one file."""

PER_FILE = 200
KEYS = 50
_CLOSING = 10**12


class Event(NamedTuple):
    """An event as the program reads it; `time` in milliseconds."""

    id: int
    key: str
    time: int
    value: int

    @property
    def line(self) -> str:
        """The event in its file."""
        return f"{self.id},{self.key},{self.time},{self.value}\n"


class Feed:
    """Writes files of events into a directory; each file appears atomically."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._directory = directory
        self._random = random.Random(seed)
        self._files = 0
        self.events: list[Event] = []
        directory.mkdir(parents=True)

    def more(self, files: int) -> None:
        """Write further files."""
        for _ in range(files):
            first = len(self.events)
            events = [
                Event(
                    first + number,
                    f"key-{int(self._random.paretovariate(0.7)) % KEYS}",
                    self._files * FILE_MS + self._random.randrange(FILE_MS),
                    self._random.randrange(-1000, 1000),
                )
                for number in range(PER_FILE)
            ]
            self._write(events)
            self.events += events

    def close(self) -> None:
        """Write an event whose time completes everything before it; it is in no result itself."""
        self._write([closing()])

    def _write(self, events: list[Event]) -> None:
        hidden = self._directory / f".{self._files:06d}"
        hidden.write_text("".join(event.line for event in events))
        hidden.rename(self._directory / f"{self._files:06d}.csv")
        self._files += 1


def closing() -> Event:
    """Return the last event of a feed."""
    return Event(-1, "closing", _CLOSING, 0)
