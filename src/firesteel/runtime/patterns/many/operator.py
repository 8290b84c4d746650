"""The operator that finds the matches of many patterns in a keyed stream.

It finds for each pattern what an operator of its own would find. Matches that an event completes come in the order of
the patterns' numbers. Each pattern has its own timers, as its partial matches have their own deadlines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Final

from firesteel.functions.output_tag import OutputTag
from firesteel.functions.patterns.conditions import rich_parts
from firesteel.functions.patterns.processors import NamedPattern
from firesteel.functions.patterns.results import PatternProcessFunction, TimedOutPartialMatchHandler
from firesteel.runtime.checkpointing import initialize_lists
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.contexts import ResultContext
from firesteel.runtime.patterns.many.dispatch import Found
from firesteel.runtime.patterns.many.live import LivePatterns, PatternsOfKey, namespace_of
from firesteel.runtime.patterns.many.registry import NEVER, Current, PatternRegistry, Record
from firesteel.runtime.patterns.many.running import RunningPattern
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.runtime.patterns.matches import KeyMatches
from firesteel.runtime.patterns.operator import PatternOperator
from firesteel.runtime.patterns.shape import shape_error

_pattern_of: Final = itemgetter(0)


class ManyPatternsOperator(PatternOperator):
    """Looks for the patterns of a program, by their ids; those with no function of their own share `function`.

    One pattern is in hand at a time: `_matcher` and `_function` are its.
    """

    _result: _Context
    _live: LivePatterns  # type: ignore[assignment]  # by pattern, where one pattern has its matches by key

    def __init__(
        self,
        patterns: Mapping[str, NamedPattern],
        *,
        event_time: bool = True,
        comparator: Callable[[Any, Any], int] | None = None,
        late_tag: OutputTag | None = None,
    ) -> None:
        self._patterns = patterns
        self._event_time = event_time
        self._comparator = comparator
        self._late_tag = late_tag

    # Lifecycle

    def _open_patterns(self, context: OperatorContext, runtime: TaskRuntimeContext) -> None:
        self._runtime = runtime
        self._by_pattern = self._backend.windowed
        self._registry = PatternRegistry(self._backend, self._start, self._stop)
        self._live = LivePatterns(self._backend, self._timers)
        self._result = _Context(self, self._collector, event_time=self._event_time)
        self._opened = [*self._functions()]
        self._lists = initialize_lists(self._opened, context, runtime)
        for function in self._opened:
            function.open(runtime)

    def _functions(self) -> Sequence[PatternProcessFunction]:
        """Return the functions that live as long as the operator."""
        return [*{id(pattern.function): pattern.function for pattern in self._patterns.values()}.values()]

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._registry.load()
        self._take_over()

    def _take_over(self) -> None:
        """Look for the patterns of this program, which may be others than those of the program before."""
        for id_ in self._patterns:
            if self._registry.latest(id_) is None:
                self._registry.add(id_, None, None)

    def end_epoch(self) -> OperatorReport:
        report = super().end_epoch()
        if self._registry.forget(self._next_time()):
            self._live.keep_only(self._registry.patterns)
        return report

    def _next_time(self) -> int:
        """Return the least time that an event that comes can have."""
        return self.watermark + 1 if self._event_time else self.processing_time

    def close(self) -> None:
        for pattern in self._registry.patterns.values():
            self._stop(pattern)
        super().close()

    # Patterns

    def _start(self, number: int, record: Record) -> RunningPattern | None:
        named = self._named(record)
        if named is None:
            return None
        who = f"{self.context.who}: pattern {record.id!r}"
        automaton = compiled(named.definition)
        if record.shape not in ([], automaton.shape):
            raise shape_error(record.shape, automaton.shape, who, "id")
        pattern = RunningPattern()
        pattern.number, pattern.id, pattern.version = number, record.id, record.version
        pattern.definition = record.definition
        pattern.since, pattern.until = record.since, NEVER if record.until is None else record.until
        pattern.shape, pattern.namespace = automaton.shape, namespace_of(number)
        pattern.function = named.function
        handles = isinstance(named.function, TimedOutPartialMatchHandler)
        pattern.matcher = Matcher(automaton, who, shows_timeouts=handles)
        pattern.timed = automaton.within is not None or bool(automaton.within_previous)
        parts = {id(part): part for each in automaton.conditions for part in rich_parts(each)}
        pattern.opened = [*parts.values()]
        for part in parts.values():
            part.set_runtime_context(self._runtime)
        if not any(named.function is function for function in self._opened):
            pattern.opened.append(named.function)
        for function in pattern.opened:
            function.open(self._runtime)
        return pattern

    def _stop(self, pattern: RunningPattern) -> None:
        for function in pattern.opened:
            function.close()

    def _named(self, record: Record) -> NamedPattern | None:
        """Return the pattern of a record; None if the program has none of this id any more."""
        return self._patterns.get(record.id)

    # Events

    def _take_some(self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        place = 0
        while place < len(values):
            current = self._registry.at(times[place])
            end = bisect_left(times, current.end, place)
            self._take_part(times[place:end], keys[place:end], values[place:end], current)
            place = end

    def _take_part(
        self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any], current: Current
    ) -> None:
        """Take events in which the same patterns are looked for."""
        self._backend.expect([*keys])
        live, in_order = self._live, self._event_time
        begins = current.dispatch.begins(values)
        # In processing time, each event of a key tells all its patterns the time.
        touches: Iterable[Found[RunningPattern] | None] = (
            current.waiting.touches(values) if in_order else repeat(None)
        )
        for time, key, value, found, touched in zip(times, keys, values, begins, touches, strict=False):
            if in_order and time >= self._next_due:
                self._fire(time)
            of_key = live.find(key)
            if of_key is None:
                if not found:
                    continue
                of_key = live.make(key)
            for pattern, begin in _concerned(of_key, found, touched, current):
                self._take_one(pattern, of_key, key, value, time, begin)

    def _take_one(
        self,
        pattern: RunningPattern,
        of_key: PatternsOfKey,
        key: Any,
        value: Any,
        time: int,
        begin: bool | None,
    ) -> None:
        matches = of_key.matches.get(pattern.number)
        if matches is None:
            matches = self._live.begin(of_key, pattern.number)
        self._turn_to(pattern, key)
        if pattern.timed and not self._event_time:
            self._advance_time(matches, time)
        runs = matches.runs
        for match in pattern.matcher.advance(matches, value, time, self.processing_time, begin):
            self._emit(match, time)
        if pattern.timed and matches.runs is not runs:
            self._set_deadline(pattern, of_key, key, matches)

    def _turn_to(self, pattern: RunningPattern, key: Any) -> None:
        """Take a pattern in hand, for a key."""
        self._scope.current = key
        self._by_pattern.current = key, pattern.namespace
        self._matcher, self._function = pattern.matcher, pattern.function
        self._result.pattern = pattern

    # Time

    def _fire(self, upto: int) -> None:
        self._next_due = NEVER
        for timer, (key, namespace) in self._timers.pop_due(upto + self._delay):
            self._live.relax()
            of_key = self._live.find(key)
            pattern = self._registry.patterns.get(namespace.id)
            if of_key is None or pattern is None:
                continue
            if of_key.timers.get(pattern.number) == timer:
                del of_key.timers[pattern.number]
            matches = of_key.matches.get(pattern.number)
            time = timer - self._delay
            if matches is not None and time < pattern.until:
                self._turn_to(pattern, key)
                self._advance_time(matches, time)
                self._set_deadline(pattern, of_key, key, matches)
        due = self._timers.next_due()
        self._next_due = NEVER if due is None else due - self._delay

    def _set_deadline(
        self, pattern: RunningPattern, of_key: PatternsOfKey, key: Any, matches: KeyMatches
    ) -> None:
        known = of_key.timers.get(pattern.number)
        timer = self._timer_at(pattern.matcher.deadline(matches), known)
        if timer is not None:
            current = key, pattern.namespace
            if known is not None:
                self._timers.delete(known, current)
            self._timers.register(timer, current)
            of_key.timers[pattern.number] = timer
            self._next_due = min(self._next_due, timer - self._delay)


def _concerned(
    of_key: PatternsOfKey,
    found: Found[RunningPattern],
    touched: Found[RunningPattern] | None,
    current: Current,
) -> Found[RunningPattern]:
    """Return the patterns that an event can begin, and those with partial matches, in the order of their numbers.

    If it is known which of the latter the event has `touched`, the others are left out.
    """
    known = of_key.matches
    if not known:
        return found
    begun = {pattern.number: (pattern, begin) for pattern, begin in found}
    waiting: Iterable[RunningPattern] = current.patterns.values()
    if touched is not None:
        waiting = chain(map(_pattern_of, touched), current.waiting.unsure)
    for pattern in waiting:
        number = pattern.number
        if number in known and number not in begun and known[number].runs:
            begun[number] = pattern, False
    return [begun[number] for number in sorted(begun)]


class _Context(ResultContext):
    """The context of matches, which also knows the pattern."""

    pattern: RunningPattern

    def pattern_id(self) -> str:
        return self.pattern.id

    def pattern_version(self) -> int | None:
        return self.pattern.version
