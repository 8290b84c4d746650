"""How soon pages ask again: as often as drivers measure, and less often the more pages look.

What pages cost is time that jobs on the same machine do not have. So it is bounded: however many look, they ask about
so many times a second together.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

EVERY_MS: Final = 2_000
"""How soon a page asks again that is alone: as often as drivers measure."""

LONGEST_MS: Final = 10_000

MOST_PER_SECOND: Final = 8
"""How often all pages together ask: 16 pages each two seconds, 50 each six."""

_GONE_SECONDS: Final = LONGEST_MS / 1000 + 2


class Pace:
    """Says how soon each page is to ask again; `clock` gives seconds.

    A page is there until it has not asked for a while. Who is no page (`page` is empty) does not count.

    >>> pace = Pace()
    >>> [pace.next_ms(f"page {number}") for number in range(50)][::16]
    [2000, 2125, 4125, 6125]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = threading.Lock()
        self._asked = OrderedDict[str, float]()

    def next_ms(self, page: str) -> int:
        """Return after how many milliseconds a page that has asked now is to ask again."""
        if not page:
            return EVERY_MS
        now = self._clock()
        with self._turn:
            self._asked[page] = now
            self._asked.move_to_end(page)
            while next(iter(self._asked.values())) < now - _GONE_SECONDS:
                self._asked.popitem(last=False)
            pages = len(self._asked)
        return min(max(EVERY_MS, 1000 * pages // MOST_PER_SECOND), LONGEST_MS)
