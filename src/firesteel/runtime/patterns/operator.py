"""The operator that finds matches in a keyed stream (Flink: CepOperator).

In event time, events wait until the watermark has passed their time. Then they are taken in the order of time, those of
one time in the order of arrival or of a comparator; an event whose time has passed when it comes is late. A timer of
each key is due when its first partial match is too late; a reminder does if nobody is told of that and no match waits
for it. Timers and events are taken together in the order of time, as if a watermark followed each event. So results do
not depend on when watermarks come, which in Flink they do: there a match that ends by the absence of an event has the
time of the watermark that happens to show it.

In processing time, events are taken as they come, and timers as Flink sets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, repeat
from typing import Any, Final

from firesteel.common.collector import collector_waits
from firesteel.common.errors import RecordError
from firesteel.common.metrics import Counter
from firesteel.common.sealing import seal
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.base import Function
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.patterns.conditions import RichIterativeCondition, rich_parts
from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.results import (
    Match,
    PatternContext,
    PatternProcessFunction,
    TimedOutPartialMatchHandler,
)
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.checkpointing import initialize_lists
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.patterns.comparing import guarded
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.contexts import ResultContext
from firesteel.runtime.patterns.live import LiveMatches
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.runtime.patterns.matches import KeyMatches, last_start, states_of
from firesteel.runtime.patterns.reminders import Reminders
from firesteel.runtime.patterns.shape import Shape
from firesteel.runtime.patterns.waiting import WaitingEvents
from firesteel.runtime.rows.collector import Collector, not_iterable_error

_NEVER: Final = 1 << 64
_TOGETHER: Final = 1 << 15
"""The number of events for which the garbage collector waits."""

_ONE_KEY: Final = 0
"""The key of all events of a stream without keys."""


class PatternOperator(Operator[RowBatch]):
    """Finds matches and calls a PatternProcessFunction; see the module for what it does in which order.

    Late events go to the side output of `late_tag`; without one they are dropped and counted (`numLateRecordsDropped`).
    """

    def __init__(
        self,
        definition: PatternDefinition,
        function: PatternProcessFunction,
        *,
        event_time: bool = True,
        comparator: Callable[[Any, Any], int] | None = None,
        late_tag: OutputTag | None = None,
    ) -> None:
        self._definition = definition
        self._function = function
        self._event_time = event_time
        self._comparator = comparator
        self._late_tag = late_tag

    # Lifecycle

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        backend, event_timers, processing_timers = (
            context.backend,
            context.event_timers,
            context.processing_timers,
        )
        assert backend is not None
        assert event_timers is not None
        assert processing_timers is not None
        self._backend = backend
        self._scope = backend.keyed
        self._timers = event_timers if self._event_time else processing_timers
        # As in Flink, a timer of processing time is due a millisecond later.
        self._delay = 0 if self._event_time else 1
        comparator = None if self._comparator is None else guarded(self._comparator, context.who)
        self._waiting = WaitingEvents(backend, comparator)
        self._reminders: Reminders | None = None
        self._next_due = MIN_WATERMARK
        self._collector = Collector(context.output, context.side_outputs)
        runtime = TaskRuntimeContext(context, keyed=True)
        self._late: Counter = runtime.get_metrics_group().counter("numLateRecordsDropped")
        self._open_patterns(context, runtime)

    def _open_patterns(self, context: OperatorContext, runtime: TaskRuntimeContext) -> None:
        automaton = compiled(self._definition)
        handles = isinstance(self._function, TimedOutPartialMatchHandler)
        self._matcher = Matcher(automaton, context.who, shows_timeouts=handles)
        self._timed = automaton.within is not None or bool(automaton.within_previous)
        self._within = automaton.within if self._event_time else None
        if self._within is not None:
            self._reminders = Reminders(self._backend, self._within)
        self._reminds = self._event_time and self._matcher.ends_after is not None
        self._live = LiveMatches(self._backend)
        self._result = ResultContext(self, self._collector, event_time=self._event_time)
        shape = Shape(automaton.shape, context.who)
        self._lists = initialize_lists([shape, self._function], context, runtime)
        parts: dict[int, RichIterativeCondition] = {
            id(part): part for condition in automaton.conditions for part in rich_parts(condition)
        }
        for part in parts.values():
            part.set_runtime_context(runtime)
            part.open(runtime)
        self._function.open(runtime)
        self._opened: list[Function] = [*parts.values(), self._function]

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._waiting.begin_epoch(self.epoch)
        if self._reminders is not None:
            self._reminders.begin_epoch(self.epoch)
        self._next_due = MIN_WATERMARK

    def end_epoch(self) -> OperatorReport:
        waiting = None if self._event_time else self._waiting.next_due()
        self._waiting.settle()
        if self._reminders is not None:
            self._reminders.settle()
        with collector_waits():
            self._live.settle()
        self._collector.flush()
        return OperatorReport(
            operator_state=self._lists and self._lists.snapshot(self),
            next_wakeup=None if waiting is None else waiting + self._delay,
        )

    def close(self) -> None:
        for function in self._opened:
            function.close()

    # Events

    def process(self, batch: RowBatch, port: int) -> None:
        keys = batch.keys if batch.keys is not None else [_ONE_KEY] * len(batch)
        if self._event_time:
            self._wait(keys, batch)
        elif self._comparator is not None:
            self._waiting.add([self.processing_time] * len(batch), keys, batch.values)
        else:
            self._take([self.processing_time] * len(batch), keys, batch.values)
        self._relax(len(keys))

    def _wait(self, keys: list[Any], batch: RowBatch) -> None:
        times, watermark = batch.timestamps, self.watermark
        if times is None or None in times:
            raise self._timeless(batch)
        if min(times, default=MAX_WATERMARK) <= watermark:  # type: ignore[type-var, operator]
            on_time = [place for place, time in enumerate(times) if time > watermark]  # type: ignore[operator]
            for value, time in zip(batch.values, times, strict=True):
                if time <= watermark:  # type: ignore[operator]
                    self._drop(value, time)
            batch = batch.take(on_time)
            keys, times = [keys[place] for place in on_time], batch.timestamps
        self._waiting.add(times, keys, batch.values)  # type: ignore[arg-type]

    def _drop(self, value: Any, time: int | None) -> None:
        if self._late_tag is None:
            self._late.inc()
        else:
            self._collector.side(self._late_tag, value, time)

    def _timeless(self, batch: RowBatch) -> RecordError:
        value = next(value for value, time in zip(batch.values, batch.stamps(), strict=True) if time is None)
        return RecordError(
            "requires events with a timestamp",
            who=self.context.who,
            got=f"the record {summary(value)} without one",
            hint="call assign_timestamps_and_watermarks(...) before it, or in_processing_time() on the PatternStream",
        )

    def _take(self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Take events, in the order of their times."""
        for start in range(0, len(values), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            with collector_waits():
                self._take_some(times[some], keys[some], values[some])

    def _take_some(self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        matcher, live, scope = self._matcher, self._live, self._scope
        timed, by_clock, within = self._timed, not self._event_time, self._within
        known, stored, stays = live.by_key.get, live.stored, matcher.stays
        first = matcher.first_condition
        begins: Iterable[Any] = repeat(None) if first is None else (asked := matcher.answers(values))
        can_stay = first is not None and not (timed and by_clock)
        if can_stay and (may_change := matcher.may_change(values, asked)) is not None:
            times, keys, values, begins = (
                [*compress(each, may_change)] for each in (times, keys, values, asked)
            )
        self._backend.expect([*keys])
        for time, key, value, may_begin in zip(times, keys, values, begins, strict=False):
            if time >= self._next_due and not by_clock:
                self._fire(time)
            matches, answers = known(key), None
            if matches is not None:
                if may_begin is False and not matches.runs:
                    continue
            elif (summary := stored(key)) is not None:
                if can_stay and not may_begin and (states := states_of(summary)) is not None:
                    answers = matcher.answers_with(may_begin)
                    if stays(states, value, answers):
                        continue
                matches = live.load(key, summary)
            elif may_begin is False:
                continue
            else:
                matches = live.make(key)
            scope.current = key
            if timed and by_clock:
                self._advance_time(matches, time)
            runs = matches.runs
            if within is not None and runs and runs[0][2] + within <= time:
                self._advance_time(matches, time)
            for match in matcher.advance(matches, value, time, self.processing_time, may_begin, answers):
                self._emit(match, time)
            if timed and matches.runs is not runs:
                self._set_timer(key, matches)

    # Time

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        if self._event_time:
            self._move_to(watermark)
        self.emit_watermark(watermark)

    def advance_processing_time(self, now: int) -> None:
        self.processing_time = now
        if not self._event_time:
            self._move_to(now - 1)

    def finish(self) -> None:
        if not self._event_time:
            # What waits to be put in order waits for the next millisecond, which does not come.
            self._move_to(self.processing_time)

    def _move_to(self, time: int) -> None:
        for times, keys, events in self._waiting.due(time):
            self._take(times, keys, events)
            self._relax(len(times))
        self._fire(time)
        if self._reminders is not None:
            self._look_at(self._reminders.due(time))
        self._relax()

    def _fire(self, upto: int) -> None:
        """Take the timers up to a time."""
        self._next_due = _NEVER
        live = self._live
        for timer, key in self._timers.pop_due(upto + self._delay):
            live.relax()
            self._scope.current = key
            if (matches := self._found(key)) is not None:
                self._pass(key, matches, timer)
        due = self._timers.next_due()
        self._next_due = _NEVER if due is None else due - self._delay

    def _look_at(self, due: Iterable[tuple[int, list[Any]]]) -> None:
        """End what is too late of keys of which reminders are due."""
        live, within = self._live, self._within
        for time, keys in due:
            live.relax()
            over = []
            for key in keys:
                self._scope.current = key
                summary = live.stored(key) if self._reminds and key not in live.by_key else None
                start = None if summary is None else last_start(summary)
                if start is not None and start + within <= time:  # type: ignore[operator]  # there are reminders
                    over.append(key)
                elif (matches := self._found(key)) is not None:
                    self._pass(key, matches, time)
            live.end(over)

    def _found(self, key: Any) -> KeyMatches | None:
        """Return the matches of a key, if it has any."""
        matches = self._live.by_key.get(key)
        if matches is None and (summary := self._live.stored(key)) is not None:
            return self._live.load(key, summary)
        return matches

    def _pass(self, key: Any, matches: KeyMatches, timer: int) -> None:
        """Let the time of a timer or a reminder pass for a key, which is current."""
        if matches.timer == timer:
            matches.timer = None
        self._advance_time(matches, timer - self._delay)
        self._set_timer(key, matches)

    def _advance_time(self, matches: KeyMatches, time: int) -> None:
        found, timed_out = self._matcher.advance_time(matches, time)
        for match in found:
            self._emit(match, time)
        for match, limit in timed_out:
            self._emit_timed_out(match, limit)

    def _set_timer(self, key: Any, matches: KeyMatches) -> None:
        if self._reminds and not matches.completed:
            if (
                matches.timer is None
            ):  # else it is not after the next one, as matches are in the order of their starts
                self._set_reminder(key, matches)
            return
        # What is complete and held back comes right when the deadline passes, so a reminder does not do.
        timer = self._timer_at(self._matcher.deadline(matches), None if self._reminds else matches.timer)
        if timer is not None:
            self._timers.register(timer, key)
            matches.timer = timer
            self._next_due = min(self._next_due, timer - self._delay)

    def _set_reminder(self, key: Any, matches: KeyMatches) -> None:
        deadline = self._matcher.deadline(matches)
        if deadline is not None and deadline <= MAX_WATERMARK:
            assert self._reminders is not None
            matches.timer = self._reminders.rounded(deadline)
            self._reminders.add(matches.timer, key)

    def _timer_at(self, deadline: int | None, known: int | None) -> int | None:
        """Return the timer to set for a deadline; None if there is no need, or `known` comes first."""
        if deadline is None:
            return None
        timer = deadline + self._delay
        return timer if (known is None or timer < known) and timer <= MAX_WATERMARK else None

    def _relax(self, taken: int = 0) -> None:
        self._collector.flush()
        self._live.relax(taken)

    # Results

    def _emit(self, match: Match, time: int) -> None:
        stamp = time if self._event_time else None
        self._result.time = time
        results = self._call(self._function.process_match, match)
        if results:
            try:
                iterator = iter(results)
            except TypeError:
                raise not_iterable_error(results, self.context.who, "process_match()") from None
            try:
                self._collector.extend(iterator, stamp)
            except RAISED as error:
                raise self._failure(error, match) from error

    def _emit_timed_out(self, match: Match, limit: int) -> None:
        function = self._function
        assert isinstance(function, TimedOutPartialMatchHandler)
        self._result.time = limit
        for result in self._call(function.process_timed_out_match, match) or ():
            if not (type(result) is tuple and result and type(result[0]) is OutputTag):
                raise RecordError(
                    "requires process_timed_out_match() to emit to side outputs only",
                    who=self.context.who,
                    got=summary(result),
                    hint="call ctx.output(tag, value), or yield tag, value",
                )
            self._result.output(*result)

    def _call(self, method: Callable[[Match, PatternContext], Any], match: Match) -> Any:
        # The events belong to the state, so the function gets events that it may change.
        lent = {name: [*map(seal, events)] for name, events in match.items()}
        try:
            return method(lent, self._result)
        except RAISED as error:
            raise self._failure(error, match) from error

    def _failure(self, error: BaseException, match: Match) -> Exception:
        taken = iter((match,))
        next(taken)
        return user_failure(error, self.context.who, (match,), taken)
