"""Patterns, events and answers of the cases that Flink was asked about (`flink/cases.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from firesteel.cep import AfterMatchSkipStrategy, Pattern, WithinType
from firesteel.common.errors import RecordError
from firesteel.common.time import Duration
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.live import YOUNG
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.runtime.patterns.matches import KeyMatches
from firesteel.runtime.patterns.shelves import Tables

AFTERWARDS = 25
"""The milliseconds for which time goes on after the last event."""

_MOST_YOUNG = (8, 0, 2)
"""How many links may be young, by turns, so that matches have links of both kinds."""

Event = tuple[int, str, int, int]
"""The number of the event, its letter, its number, its time."""

Call = list[Any]
Answer = list[Any]


class DictTable(dict[int, Any]):
    """Entries in memory."""

    def put(self, key: int, value: Any) -> None:
        self[key] = value

    def remove(self, key: int) -> None:
        self.pop(key, None)


def tables() -> Tables:
    return Tables(DictTable(), DictTable(), DictTable(), DictTable())


def pattern_of(calls: Sequence[Call]) -> Pattern:
    """Return the pattern that the calls define."""
    pattern: Any = Pattern
    for name, *arguments in calls:
        pattern = _called(pattern, name, arguments)
    return pattern


def _called(pattern: Any, name: str, arguments: list[Any]) -> Pattern:
    if arguments and isinstance(arguments[0], list):
        arguments = [pattern_of(arguments[0]), *arguments[1:]]
    if name == "begin" and len(arguments) == 2:
        arguments[1] = _skip(*arguments[1])
    elif name in ("where", "or_", "until"):
        arguments = [condition(arguments[0])]
    elif name == "within":
        arguments = [Duration.of_millis(arguments[0])]
    elif name == "within_previous":
        name, arguments = "within", [Duration.of_millis(arguments[0]), WithinType.PREVIOUS_AND_CURRENT]
    elif name == "one_or_more" and arguments:
        arguments = [Duration.of_millis(arguments[0])]
    elif name == "times" and len(arguments) == 3:
        arguments[2] = Duration.of_millis(arguments[2])
    called: Pattern = getattr(pattern, name)(*arguments)
    return called


def _skip(mode: str, name: str | None = None, throws: bool = False) -> AfterMatchSkipStrategy:
    strategy: AfterMatchSkipStrategy = getattr(AfterMatchSkipStrategy, mode)(*filter(None, [name]))
    return strategy.throw_exception_on_miss() if throws else strategy


def condition(text: str) -> Callable[..., bool]:
    """Return a condition: "ab" is one of these letters; "ab>c" also a number above all of the events of step c."""
    letters, _, step = text.partition(">")
    if not step:
        return lambda event: event[1] in letters
    return lambda event, ctx: (
        event[1] in letters and all(event[2] > before[2] for before in ctx.get_events_for_pattern(step))
    )


def found_by(calls: Sequence[Call], run: list[Call], *, settling: bool) -> list[Answer]:
    """Return what our automaton finds, in the form of the answers; `settling`: it is stored after each event."""
    return found_with(pattern_of(calls), run, settling=settling)


def found_with(pattern: Pattern, run: list[Call], *, settling: bool) -> list[Answer]:
    """Return what our automaton finds with a pattern, in the form of the answers."""
    matcher = Matcher(compiled(pattern.definition()), "pattern (job.py:1)")
    events = [(number, *event) for number, event in enumerate(run)]
    return [*_played(matcher, events, settling)]


def _played(matcher: Matcher, events: list[Event], settling: bool) -> Iterator[Answer]:
    stored = tables()
    matches = KeyMatches(stored, young=YOUNG)
    now = events[0][3] - 1
    for event in events:
        for time in range(now + 1, event[3] + 1):
            yield from _advanced(matcher, matches, time)
        now = event[3]
        try:
            for match in matcher.advance(matches, event, now, 0):
                yield ["m", now, _steps(match)]
        except RecordError:
            yield "failed"  # type: ignore[misc]
            return
        if settling:
            summary = matches.settle()
            matches = KeyMatches(stored, summary, YOUNG._replace(most=_MOST_YOUNG[event[0] % 3]))
            assert summary is not None or not any(stored), "what nobody refers to is gone"
    for time in range(now + 1, now + AFTERWARDS + 1):
        yield from _advanced(matcher, matches, time)


def _advanced(matcher: Matcher, matches: KeyMatches, time: int) -> Iterator[Answer]:
    found, timed_out = matcher.advance_time(matches, time)
    for match in found:
        yield ["m", time, _steps(match)]
    for match, limit in timed_out:
        yield ["t", limit, _steps(match)]


def _steps(match: dict[str, list[Event]]) -> list[Any]:
    return [[name, [event[0] for event in events]] for name, events in match.items()]
