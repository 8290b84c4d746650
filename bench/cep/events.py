"""The events of the benchmark, and the matches that they have: A, then B within ten seconds.

An event is a tuple (key, kind, number), and its time follows from its number. Kinds repeat after a prime number of
events, drawn once: one in ten is an A, one in ten a B. Keys take turns; their number is even, so that the events of a
key come from one subtask, in order. `FlinkMatches.java` makes the same events.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

Event = tuple[int, str, int]
"""Key, kind and number."""

LANES: Final = 2
"""Subtasks; each generates every other event."""

PER_MS: Final = 100
"""Events of a millisecond."""

WITHIN_MS: Final = 10_000
SPREAD: Final = 7919  # a prime: consecutive events have unrelated keys, every key comes equally often
_ROUND: Final = 10_007  # a prime, so that keys do not meet the same kinds again soon
KINDS: Final = "".join(random.Random(13).choices("ABxxxxxxxx", k=_ROUND))


def generator(keys: int) -> Callable[[int], Event]:
    """Return the function that makes the event of a number.

    >>> generator(10)(3)
    (7, 'x', 3)
    """

    def event(number: int) -> Event:
        return number * SPREAD % keys, KINDS[number % _ROUND], number

    return event


def long_generator(keys: int, count: int) -> Callable[[int], Event]:
    """Return the function that makes the events of one match for each key: an A, x and x again, a B.

    >>> "".join(long_generator(2, 8)(number)[1] for number in range(8))
    'AAxxxxBB'
    """
    last = count // keys - 1

    def event(number: int) -> Event:
        place = number // keys
        return number % keys, "x" if 0 < place < last else "B" if place else "A", number

    return event


def time_of(event: Event) -> int:
    """Return an event's time (milliseconds)."""
    return event[2] // PER_MS


def expected(keys: int, count: int) -> tuple[int, int]:
    """Return how many matches `count` events have, and how many events lie between the two of each, all added up."""
    waiting: dict[int, list[int]] = {}
    results = total = 0
    for number in range(count):
        kind = KINDS[number % _ROUND]
        if kind == "x":
            continue
        key = number * SPREAD % keys
        if kind == "A":
            waiting.setdefault(key, []).append(number)
            continue
        for first in waiting.pop(key, ()):
            if number // PER_MS - first // PER_MS < WITHIN_MS:
                results += 1
                total += number - first
    return results, total
