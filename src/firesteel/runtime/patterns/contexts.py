"""What conditions, and the functions that take matches, can ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from firesteel.functions.output_tag import OutputTag
from firesteel.functions.patterns.conditions import ConditionContext
from firesteel.functions.patterns.results import Match, PatternContext
from firesteel.runtime.operator import Operator
from firesteel.runtime.patterns.matches import KeyMatches
from firesteel.runtime.patterns.shelves import Link
from firesteel.runtime.rows.collector import Collector

_NOTHING: Final[tuple[()]] = ()


class MatchContext(ConditionContext):
    """What an iterative condition gets; one object serves all calls.

    `link` is the last one of the partial match; None if it has no events yet.
    """

    def __init__(self) -> None:
        self.now = 0
        self.time = 0
        self.matches: KeyMatches | None = None
        self.link: Link | None = None
        self._match: Match | None = None

    def look_at(self, matches: KeyMatches, link: Link | None, time: int) -> MatchContext:
        self.matches, self.link, self.time = matches, link, time
        self._match = None
        return self

    def get_events_for_pattern(self, name: str) -> Iterator[Any]:
        if self._match is None:
            assert self.matches is not None
            self._match = {} if self.link is None else self.matches.match(self.matches.path(self.link))
        return iter(self._match.get(name, _NOTHING))

    def timestamp(self) -> int:
        return self.time

    def current_processing_time(self) -> int:
        return self.now


class ResultContext(PatternContext):
    """The context of matches; one object serves all calls."""

    def __init__(self, operator: Operator[Any], collector: Collector, *, event_time: bool) -> None:
        self._operator = operator
        self._collector = collector
        self._timed = event_time
        self.time = 0

    def timestamp(self) -> int:
        return self.time

    def current_processing_time(self) -> int:
        return self._operator.processing_time

    def output(self, output_tag: OutputTag, value: Any) -> None:
        self._collector.side(output_tag, value, self.time if self._timed else None)
