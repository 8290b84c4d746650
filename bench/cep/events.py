"""The events of the benchmark, and the matches that they have: A, then B within ten seconds; or many such pairs.

An event is a tuple (key, kind, number), and its time follows from its number. Kinds repeat after a prime number of
events, drawn once: one in ten is an A, one in ten a B. Keys take turns; their number is even, so that the events of a
key come from one subtask, in order. `FlinkMatches.java` makes the same events.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Final

Event = tuple[int, str, int]
"""Key, kind and number."""

ManyEvent = tuple[int, int, int]
"""The same where kinds are numbers."""

LANES: Final = 2
"""Subtasks; each generates every other event."""

PER_MS: Final = 100
"""Events of a millisecond."""

WITHIN_MS: Final = 10_000
SPREAD: Final = 7919  # a prime: consecutive events have unrelated keys, every key comes equally often
_ROUND: Final = 10_007  # a prime, so that keys do not meet the same kinds again soon
KINDS: Final = "".join(random.Random(13).choices("ABxxxxxxxx", k=_ROUND))

MOST_PATTERNS: Final = 1_000
MANY_KEYS: Final = 1_000
MANY_WITHIN_MS: Final = 1_000
_MANY_KINDS: Final = random.Random(17).choices(range(2 * MOST_PATTERNS), k=_ROUND)


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


def many_event(number: int) -> ManyEvent:
    """Return the event of a number where pattern i looks for kind 2i, then kind 2i + 1.

    >>> key, kind, number = many_event(3)
    >>> key, 0 <= kind < 2 * MOST_PATTERNS, number
    (757, True, 3)
    """
    return number * SPREAD % MANY_KEYS, _MANY_KINDS[number % _ROUND], number


def time_of(event: Event | ManyEvent) -> int:
    """Return an event's time (milliseconds)."""
    return event[2] // PER_MS


def expected(keys: int, count: int) -> tuple[int, int]:
    """Return how many matches `count` events have, and how many events lie between the two of each, all added up."""
    given = map(generator(keys), range(count))
    pairs = ((number, (key, 0), "AB".find(kind)) for key, kind, number in given)
    return _matches(pairs, WITHIN_MS)


def expected_of_many(patterns: int, count: int) -> tuple[int, int]:
    """Return the same for the first so many patterns of many."""
    given = map(many_event, range(count))
    pairs = ((number, (key, kind // 2), kind % 2) for key, kind, number in given if kind < 2 * patterns)
    return _matches(pairs, MANY_WITHIN_MS)


def _matches(given: Iterable[tuple[int, tuple[int, int], int]], within_ms: int) -> tuple[int, int]:
    """Find pairs by brute force; a number comes with key and pattern, and whether it is a first (0), a second (1)."""
    waiting: dict[tuple[int, int], list[int]] = {}
    results = total = 0
    for number, group, place in given:
        if place == 0:
            waiting.setdefault(group, []).append(number)
        elif place == 1:
            for first in waiting.pop(group, ()):
                if number // PER_MS - first // PER_MS < within_ms:
                    results += 1
                    total += number - first
    return results, total
