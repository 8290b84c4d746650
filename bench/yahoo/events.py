"""The ad events, their due times, and the expected counts of their windows.

Every event is a function of its index, so any process can generate any part of the stream again. This module
is imported by both systems' workers: it uses the standard library only.
"""

from __future__ import annotations

import os
import time
from array import array
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LANES: Final = 2
"""Subtasks of every system: lane `n` makes every second event, from event `n` on."""

WINDOW_MS: Final = 10_000
ADS_PER_CAMPAIGN: Final = 10
TYPES: Final = ("view", "click", "purchase")
_FIRST_WINDOW: Final = 1_700_000_000_000
_SPREAD: Final = (
    7_368_787  # a prime: consecutive views are of unrelated ads, and every ad comes equally often
)
_EVENT: Final = (
    '{"user_id": "%d", "page_id": "%d", "ad_id": "%d", "ad_type": "banner", "event_type": "%s", '
    '"event_time": "%d", "ip_address": "10.0.%d.1"}'
)
_NOTE_S: Final = 0.1


@dataclass(frozen=True)
class Load:
    """One run's events: `count` of them, `rate` a second, of `campaigns` campaigns with ten ads each.

    The first window ends `first_end_ms` after the first event, and the next ones every ten seconds. Event times are
    those at which the events are due, on a clock that shows `first_ms` when the run starts; so they do not depend on
    when that is, and an event that is made late is late. `paced`: an event is not made before it is due; else all are
    there at once.
    """

    campaigns: int
    rate: int
    count: int
    first_end_ms: int
    paced: bool

    @property
    def first_ms(self) -> int:
        """The event time of the first event."""
        return _FIRST_WINDOW + WINDOW_MS - self.first_end_ms

    @property
    def seconds(self) -> float:
        """How long the events take to arrive when they are paced."""
        return self.count / self.rate

    def due(self, index: int) -> float:
        """Return the seconds from the start to an event."""
        return index / self.rate

    def time(self, index: int) -> int:
        """Return the event time of an event (milliseconds)."""
        return self.first_ms + index * 1000 // self.rate

    def ad(self, index: int) -> int:
        """Return the ad of an event. Only every third event is a view, so views are numbered separately."""
        return index // len(TYPES) * _SPREAD % (self.campaigns * ADS_PER_CAMPAIGN)

    def event(self, index: int) -> str:
        """Return an event as it arrives: a JSON text.

        >>> Load(campaigns=100, rate=1000, count=10, first_end_ms=5000, paced=True).event(3)
        '{"user_id": "3", "page_id": "3", "ad_id": "787", "ad_type": "banner", "event_type": "view", ...}'
        """
        kind = TYPES[index % len(TYPES)]
        return _EVENT % (index % 9973, index % 997, self.ad(index), kind, self.time(index), index % 251)

    def lane_count(self, lane: int, lanes: int) -> int:
        """Return the number of events in a lane."""
        return max(0, -(-(self.count - lane) // lanes))

    def expected(self) -> Counter[tuple[int, int]]:
        """Return the views of each (window's start, campaign)."""
        table = campaign_table(self.campaigns)
        return Counter(
            (self.time(index) // WINDOW_MS * WINDOW_MS, table[self.ad(index)])
            for index in range(0, self.count, len(TYPES))
        )


def campaign_table(campaigns: int) -> array[int]:
    """Return the campaign of each ad: ten ads per campaign, four bytes per ad.

    >>> table = campaign_table(100)
    >>> len(table), table[7], table[107]
    (1000, 7, 7)
    """
    return array("i", range(campaigns)) * ADS_PER_CAMPAIGN


class Start:
    """The start time of a run (seconds since 1970), shared by all of its processes through a file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    @property
    def decided(self) -> bool:
        """Whether it has started."""
        return self._path.exists()

    def decide(self, delay_s: float) -> float:
        """Start `delay_s` from now unless another process was first, and return the start time."""
        if not self.decided:
            mine = self._path.with_name(f"{self._path.name}-{os.getpid()}-{time.monotonic_ns()}")
            mine.write_text(repr(time.time() + delay_s), encoding="ascii")
            with suppress(FileExistsError):
                os.link(mine, self._path)
            mine.unlink()
        return self.read()

    def read(self) -> float:
        """Return the start time. Raises FileNotFoundError if it is not decided yet."""
        return float(self._path.read_text(encoding="ascii"))


class Lag:
    """Records in a file how far event generation is behind the schedule, at most ten times a second."""

    def __init__(self, load: Load, directory: str) -> None:
        self._load = load
        self._path = Path(directory) / f"lag-{os.getpid()}-{time.monotonic_ns()}"
        self._next = 0.0

    def note(self, index: int, elapsed: float) -> None:
        """Note that event `index` is made `elapsed` seconds after the start."""
        if elapsed >= self._next:
            self._next = elapsed + _NOTE_S
            with self._path.open("a", encoding="ascii") as file:
                file.write(f"{elapsed:.3f} {elapsed - self._load.due(index):.3f}\n")
