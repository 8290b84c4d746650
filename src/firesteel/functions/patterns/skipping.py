"""Which partial matches and completed matches go when a match has been emitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

__all__ = ["AfterMatchSkipStrategy", "SkipMode"]


class SkipMode(Enum):
    """Where matching goes on after a match."""

    NO_SKIP = "no_skip"
    """Every match is emitted."""
    TO_NEXT = "skip_to_next"
    """Matches that start with the same event go."""
    PAST_LAST_EVENT = "skip_past_last_event"
    """Matches that start with any event up to the last one of the match go."""
    TO_FIRST = "skip_to_first"
    """Matches that start before the first event of a step go."""
    TO_LAST = "skip_to_last"
    """Matches that start before the last event of a step go."""


@dataclass(frozen=True)
class AfterMatchSkipStrategy:
    """What happens to other matches after a match (Flink: AfterMatchSkipStrategy).

    With any strategy but `no_skip`, a match is held back as long as a partial match that started earlier is open.

    >>> AfterMatchSkipStrategy.skip_to_first("b").throw_exception_on_miss()
    AfterMatchSkipStrategy(mode=<SkipMode.TO_FIRST: 'skip_to_first'>, name='b', throws=True)
    """

    mode: SkipMode
    name: str | None = None
    throws: bool = False

    @staticmethod
    def no_skip() -> AfterMatchSkipStrategy:
        """Emit every match."""
        return AfterMatchSkipStrategy(SkipMode.NO_SKIP)

    @staticmethod
    def skip_to_next() -> AfterMatchSkipStrategy:
        """Discard every match that starts with the same event as the emitted one."""
        return AfterMatchSkipStrategy(SkipMode.TO_NEXT)

    @staticmethod
    def skip_past_last_event() -> AfterMatchSkipStrategy:
        """Discard every match that started before the emitted one ended."""
        return AfterMatchSkipStrategy(SkipMode.PAST_LAST_EVENT)

    @staticmethod
    def skip_to_first(pattern_name: str) -> AfterMatchSkipStrategy:
        """Discard every match that started before the first event of the step `pattern_name`."""
        return AfterMatchSkipStrategy(SkipMode.TO_FIRST, pattern_name)

    @staticmethod
    def skip_to_last(pattern_name: str) -> AfterMatchSkipStrategy:
        """Discard every match that started before the last event of the step `pattern_name`."""
        return AfterMatchSkipStrategy(SkipMode.TO_LAST, pattern_name)

    def throw_exception_on_miss(self) -> AfterMatchSkipStrategy:
        """Fail if a match has no event of the step, or if the event is the match's first: it would match again."""
        return replace(self, throws=True)

    def is_skip_strategy(self) -> bool:
        """Return whether any match is ever discarded."""
        return self.mode is not SkipMode.NO_SKIP

    def get_pattern_name(self) -> str | None:
        """Return the step that the strategy refers to, if it does."""
        return self.name
