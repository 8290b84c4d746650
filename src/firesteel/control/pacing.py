"""How long a loop waits: for its next epoch to be due, and for its sources to have something to read."""

from __future__ import annotations

from typing import Final

POLL_MS: Final = 50
"""How long an idle loop waits before it asks its sources for new input again."""

EAGER_POLL_MS: Final = 10
EAGER_POLLS: Final = 100
"""The number of shorter waits after an epoch, so that occasional input does not have to wait."""


class Pacing:
    """The waits of a job between its epochs, which begin at least `interval_ms` apart (milliseconds).

    Contract: `began` when an epoch begins, `rest` before the next is planned, `pause` when there is none; all on the
    loop's thread, with times of one monotonic clock. There is no rest after an epoch that left something to read, nor
    after `resume`.

    >>> pacing = Pacing(500)
    >>> pacing.began(1000, more=False)
    >>> pacing.rest(1200), pacing.rest(1500)
    (300, 0)
    >>> pacing.began(1500, more=True)
    >>> pacing.rest(1600)
    0
    """

    def __init__(self, interval_ms: int) -> None:
        self._interval = interval_ms
        self._next: int | None = None
        self._polls = 0

    def resume(self) -> None:
        """Let the next epoch begin at once: a run of the job begins."""
        self._next = None

    def began(self, now: int, more: bool) -> None:
        """Count from an epoch that begins now; `more` is whether there is more to read than it reads."""
        self._next = None if more else now + self._interval
        self._polls = 0

    def rest(self, now: int) -> int:
        """Return how long the next epoch has to wait; 0 if it may begin."""
        return 0 if self._next is None else max(0, self._next - now)

    def pause(self, now: int) -> int:
        """Return how long to wait before looking again whether there is an epoch to plan."""
        if rest := self.rest(now):
            return rest
        self._polls += 1
        return EAGER_POLL_MS if self._polls <= EAGER_POLLS else POLL_MS
