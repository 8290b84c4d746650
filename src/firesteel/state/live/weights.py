"""How much memory cached state takes, estimated from samples.

Measuring every value would cost as much as encoding it; a few of those that were cached first and last tell enough
to keep memory within a bound that is itself a round number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

ENTRY: Final = 240
"""What an entry of a cache takes beside its encoded value: its place in dict and set, and its key."""
ELEMENT: Final = 48
"""The same for an element of a list."""
CONTAINER: Final = 600
"""What the cache of a map takes when it is empty."""

_SAMPLE: Final = 16
_ENOUGH: Final = 1 << 18


class Weight(NamedTuple):
    """What a part keeps in memory, in bytes: what could be read again (clean) and what the epoch changed (dirty).

    `scanned` is how many objects were looked at to find out.
    """

    clean: int
    dirty: int
    scanned: int

    @property
    def kept(self) -> int:
        """All that is in memory."""
        return self.clean + self.dirty


def ends(cache: Mapping[Any, Any]) -> list[Any]:
    """Return some of the values of a dict, the newest and the oldest."""
    values: Any = cache.values()
    newest = list(islice(reversed(values), _SAMPLE))
    return newest if len(newest) < _SAMPLE else [*newest, *islice(values, _SAMPLE)]


def mean_size(values: Iterable[Any], encode: Callable[[Any], bytes]) -> int:
    """Return the mean size of encoded values; None has none.

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
