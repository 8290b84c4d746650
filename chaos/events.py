"""Input that arrives part by part."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

PART_MS = 1_000
"""The time span of the events of one part."""

PER_PART = 200
KEYS = 50
_CLOSING = 10**12


class Event(NamedTuple):
    """An event as the program reads it; `time` in milliseconds."""

    id: int
    key: str
    time: int
    value: int

    @property
    def text(self) -> str:
        """The event as the program gets it."""
        return f"{self.id},{self.key},{self.time},{self.value}"


class Feed(ABC):
    """Makes events, and sends them part by part."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._parts = 0
        self.events: list[Event] = []

    def more(self, parts: int) -> None:
        """Send further parts."""
        for _ in range(parts):
            first = len(self.events)
            events = [
                Event(
                    first + number,
                    f"key-{int(self._random.paretovariate(0.7)) % KEYS}",
                    self._parts * PART_MS + self._random.randrange(PART_MS),
                    self._random.randrange(-1000, 1000),
                )
                for number in range(PER_PART)
            ]
            self._send(self._parts, events)
            self._parts += 1
            self.events += events

    def close(self) -> None:
        """Send an event whose time completes everything before it; it is in no result itself."""
        self._send(self._parts, [closing()])

    @abstractmethod
    def _send(self, part: int, events: list[Event]) -> None:
        """Send a part."""


class FileFeed(Feed):
    """Writes files into a directory; each appears at once, whole."""

    def __init__(self, directory: Path, seed: int) -> None:
        super().__init__(seed)
        self._directory = directory
        directory.mkdir(parents=True)

    def _send(self, part: int, events: list[Event]) -> None:
        hidden = self._directory / f".{part:06d}"
        hidden.write_text("".join(f"{event.text}\n" for event in events))
        hidden.rename(self._directory / f"{part:06d}.csv")


def closing() -> Event:
    """Return the last event of a feed."""
    return Event(-1, "closing", _CLOSING, 0)
