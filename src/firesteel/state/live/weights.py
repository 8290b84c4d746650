"""Estimates the memory of cached state from samples.

Measuring every value would cost as much as encoding it. A few of the oldest and newest values are enough to keep memory
within a bound that is itself a round number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

ENTRY: Final = 240
"""The bytes of an entry of a cache besides its encoded value: its place in dict and set, and its key."""
ELEMENT: Final = 48
"""The same for an element of a list."""
CONTAINER: Final = 600
"""The bytes of an empty cache of a map."""

_SAMPLE: Final = 16
_ENOUGH: Final = 1 << 18


class Weight(NamedTuple):
    """The bytes that a part keeps in memory: entries that can be read again (clean) and the epoch's changes (dirty).

    `scanned` is how many objects were looked at to find out.
    """

    clean: int
    dirty: int
    scanned: int

    @property
    def kept(self) -> int:
        """The sum of clean and dirty bytes."""
        return self.clean + self.dirty


def ends(cache: Mapping[Any, Any]) -> list[Any]:
    """Return some of the values of a dict, the newest and the oldest."""
    values: Any = cache.values()
    newest = list(islice(reversed(values), _SAMPLE))
    return newest if len(newest) < _SAMPLE else [*newest, *islice(values, _SAMPLE)]


def mean_size(values: Iterable[Any], encode: Callable[[Any], bytes]) -> int:
    """Return the mean size of encoded values; None counts as 0.

    >>> mean_size([b"four", None, b"eightyes"], bytes)
    4
    """
    total = count = 0
    for value in values:
        count += 1
        if value is not None:
            total += len(encode(value))
        if total > _ENOUGH:
            break
    return total // count if count else 0
