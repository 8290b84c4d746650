"""Moves the partial matches of a key as events come and time passes (Flink: NFA).

Contract, for the matches of one key: `advance` for each event, in the order of time; before the events of a time,
`advance_time` to it. Both return what the user's function gets. Nothing here knows a clock, a key or a store.

Partial matches are kept in the order of their first events. A new one comes last, one that goes on keeps its place, so
they never need to be sorted (Flink keeps them in a queue, which has the same order).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter, or_
from typing import Any, Final

from firesteel.common.errors import RecordError
from firesteel.functions.patterns.conditions import SimpleCondition
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy, SkipMode
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.patterns.contexts import MatchContext
from firesteel.runtime.patterns.deciding import Decisions, Outcome, Question
from firesteel.runtime.patterns.java_queue import JavaQueue
from firesteel.runtime.patterns.matches import KeyMatches, Run, pruned
from firesteel.runtime.patterns.shelves import Event, Link
from firesteel.runtime.patterns.states import Automaton, Kind
from firesteel.runtime.patterns.watching import Watches

Match = dict[str, list[Any]]
"""The events of a match by the name of the step."""

TimedOut = tuple[Match, int]
"""A partial match, and the time at which it was too late for it (milliseconds)."""

Answers = list[bool | None]
"""What is known of an event, by the number of the condition."""

_NOTHING: Final[tuple[()]] = ()
_BY_FIRST_EVENT: Final = itemgetter(4)


class Matcher:
    """Moves the matches of any number of keys through one automaton; the module has the contract.

    `who` names the pattern in errors. With `shows_timeouts`, partial matches that are too late are returned. `kept`
    says what stays of an event that a match takes (None: the event). `ends_after` is the time after which a partial
    match just ends (milliseconds): nobody is told, and none is complete then.
    """

    def __init__(
        self,
        automaton: Automaton,
        who: str,
        *,
        shows_timeouts: bool = True,
        kept: Callable[[Any], Any] | None = None,
    ) -> None:
        self.conditions = automaton.conditions
        self._automaton = automaton
        self._who = who
        self._shows_timeouts = shows_timeouts
        self._kept = kept
        self._roots = Decisions(automaton).roots
        self._start = automaton.start.number
        self._kinds = [state.kind for state in automaton.states]
        self._finals = {state.number for state in automaton.states if state.kind is Kind.FINAL}
        self._tests: list[Callable[[Any], Any] | None] = [
            condition.filter if isinstance(condition, SimpleCondition) else None
            for condition in automaton.conditions
        ]
        self._skips = automaton.after_match.is_skip_strategy()
        self._watches = Watches(automaton, self._roots)
        self._watch = self._watches.of
        self._context = MatchContext()
        told = shows_timeouts or automaton.within_previous or Kind.PENDING in self._kinds
        self.ends_after = None if told else automaton.within
        self._unknown: list[bool | None] = [None] * len(automaton.conditions)
        self._concerned = self._comparisons(self.changes_with)

    @property
    def first_condition(self) -> int | None:
        """The condition that every match begins with, if it looks at events alone: no match begins without it."""
        root = self._roots[self._start]
        if not isinstance(root, Question) or self._tests[root.condition] is None:
            return None
        without = root.no or root.grow(False)
        return root.condition if isinstance(without, Outcome) and not without.moves else None

    @property
    def changes_with(self) -> tuple[int, ...] | None:
        """The conditions on events alone of which one must hold for an event to change any partial match.

        None if an event may change one without any of them.
        """
        return self._watches.of_all()

    def answers(self, values: Sequence[Any]) -> Sequence[bool]:
        """Return for each event whether the first condition, which there is, holds."""
        number = self.first_condition
        assert number is not None
        condition = self._automaton.conditions[number]
        assert isinstance(condition, SimpleCondition)
        iterator = iter(values)
        try:
            return [*map(bool, condition.filter_all(values))]
        except RAISED as error:
            # Event by event, which tells the one that the condition raises for.
            for value in iterator:
                self._test(number, condition.filter, value)
            raise user_failure(error, self._asker(number)) from error

    def may_change(self, values: Sequence[Any], begins: Sequence[bool]) -> Sequence[bool] | None:
        """Return for each event whether it may begin a match or change a partial one; `begins` are `answers`.

        None if conditions that may do anything had to be asked for that, of events that they would not be asked for.
        """
        if self._concerned is None:
            return None
        may = begins
        try:
            for condition in self._concerned:
                may = [*map(or_, may, map(bool, condition.filter_all(values)))]
        except RAISED:
            return None  # whoever waits for such an event is told
        return may

    def answers_with(self, begins: bool | None) -> Answers:
        """Return the answers that are known of an event when that of the first condition may be."""
        answers = self._unknown.copy()
        if begins is not None:
            answers[self._roots[self._start].condition] = begins  # type: ignore[union-attr]
        return answers

    def stays(self, states: tuple[int, ...], value: Any, answers: Answers) -> bool:
        """Return whether an event changes no partial match in these states, as far as events alone tell.

        It is asked of an event for which the first condition is known; what is found out is added to `answers`.
        """
        watch = self._watch(states)
        if watch is None:
            return False
        number, tests = 0, self._tests
        try:
            for number in watch:
                answer = answers[number]
                if answer is None:
                    answer = answers[number] = bool(tests[number](value))  # type: ignore[misc]  # it is simple
                if answer:
                    return False
        except RAISED as error:
            raise self._failure(error, number, value) from error
        return True

    def advance(
        self,
        matches: KeyMatches,
        value: Any,
        time: int,
        now: int,
        begins: bool | None = None,
        answers: Answers | None = None,
    ) -> Sequence[Match]:
        """Move on by an event of this time; return the matches that it completes.

        `now` is the processing time, `begins` the answer of the first condition if it is known, and `answers` are those
        that are known of all conditions.
        """
        if answers is None:
            answers = self.answers_with(begins)
        self._context.now = now
        runs = matches.runs
        kept: list[Run] | None = None
        complete: list[Run] = []
        event: Event | None = None
        idle = not runs or self._all_stay(matches, value, answers)
        for place, run in enumerate(_NOTHING if idle else runs):
            outcome = self._outcome(run[0], matches, run[1], value, time, answers)
            if outcome.stays:
                if kept is not None:
                    kept.append(run)
                continue
            if kept is None:
                kept = runs[:place]
            event = self._move(matches, run, outcome, value, time, event, kept, complete)
        if begins is not False:
            outcome = self._outcome(self._start, matches, None, value, time, answers)
            if outcome.moves:
                if kept is None:
                    kept = runs.copy()
                self._begin(matches, outcome, event or self._registered(matches, value), time, kept, complete)
        if kept is None:
            return _NOTHING
        return self._finish(matches, kept, complete)

    def advance_time(self, matches: KeyMatches, time: int) -> tuple[Sequence[Match], Sequence[TimedOut]]:
        """Move on to a time; return the matches that it completes, and the partial matches that are too late."""
        deadline = self.deadline(matches)
        if deadline is None or deadline > time:
            return _NOTHING, _NOTHING
        runs = matches.runs
        kept: list[Run] = []
        complete: list[Run] = []
        timed_out: list[TimedOut] = []
        for run, limit in zip(runs, self._limits(runs), strict=True):
            if limit > time:
                kept.append(run)
            elif self._kinds[run[0]] is Kind.PENDING:
                complete.append(run)
            else:
                if self._shows_timeouts:
                    timed_out.append((matches.match(matches.path(run[1])), limit))
                matches.use(run[1], -1)
        return self._finish(matches, kept, complete), timed_out

    def deadline(self, matches: KeyMatches) -> int | None:
        """Return the time at which the first partial match is too late (milliseconds), None if none ever is."""
        runs = matches.runs
        if not runs:
            return None
        if not self._automaton.within_previous:
            within = self._automaton.within
            return None if within is None else runs[0][2] + within
        return min((limit for limit in self._limits(runs) if limit != _NEVER), default=None)

    def _comparisons(self, numbers: Sequence[int] | None) -> list[SimpleCondition] | None:
        """Return conditions without the first one, if all just compare fields with constants."""
        first = self.first_condition
        if numbers is None or first is None:
            return None
        found: list[SimpleCondition] = []
        for condition in (self.conditions[number] for number in numbers if number != first):
            if not (isinstance(condition, SimpleCondition) and condition.demands.whole):
                return None
            found.append(condition)
        return found

    def _all_stay(self, matches: KeyMatches, value: Any, answers: Answers) -> bool:
        """Return whether the event changes no partial match, as far as that can be told for all at once."""
        runs = matches.runs
        if matches.stated is not runs:
            matches.stated, matches.states = runs, (*{run[0]: None for run in runs},)
        return self.stays(matches.states, value, answers)

    def _limits(self, runs: list[Run]) -> list[int]:
        within, previous = self._automaton.within, self._automaton.within_previous
        if not previous:
            return [_NEVER if within is None else run[2] + within for run in runs]
        limits = []
        for run in runs:
            limit = _NEVER if within is None else run[2] + within
            least = previous.get(run[0])
            # As in Flink, the time since the event before is the one that is told, if both are over.
            limits.append(limit if least is None else min(limit, run[3] + least))
        return limits

    def _registered(self, matches: KeyMatches, value: Any) -> Event:
        return matches.register(value if self._kept is None else self._kept(value))

    def _outcome(
        self,
        state: int,
        matches: KeyMatches,
        link: Link | None,
        value: Any,
        time: int,
        answers: Answers,
    ) -> Outcome:
        node = self._roots[state]
        tests = self._tests
        while node.__class__ is Question:
            number = node.condition
            answer = answers[number]
            if answer is None:
                test = tests[number]
                if test is None:
                    answer = self._ask(number, matches, link, value, time)
                else:
                    answer = answers[number] = self._test(number, test, value)
            node = (node.yes if answer else node.no) or node.grow(answer)
        return node  # type: ignore[return-value]

    def _test(self, number: int, test: Callable[[Any], Any], value: Any) -> bool:
        try:
            return bool(test(value))
        except RAISED as error:
            raise self._failure(error, number, value) from error

    def _ask(self, number: int, matches: KeyMatches, link: Link | None, value: Any, time: int) -> bool:
        try:
            context = self._context.look_at(matches, link, time)
            return bool(self._automaton.conditions[number].filter(value, context))
        except RAISED as error:
            raise self._failure(error, number, value) from error

    def _failure(self, error: BaseException, number: int, value: Any) -> Exception:
        taken = iter((value,))
        next(taken)
        return user_failure(error, self._asker(number), (value,), taken)

    def _asker(self, number: int) -> str:
        return f"{self._who}: the condition of {self._automaton.asked_for[number]}"

    def _move(
        self,
        matches: KeyMatches,
        run: Run,
        outcome: Outcome,
        value: Any,
        time: int,
        event: Event | None,
        kept: list[Run],
        complete: list[Run],
    ) -> Event | None:
        """Replace a partial match by what it becomes; return the event if it is taken."""
        _, link, start, last, first = run
        finals, uses = self._finals, -1
        for takes, name, targets in outcome.moves:
            uses += 1
            at, at_time = link, last
            if takes:
                if event is None:
                    event = self._registered(matches, value)
                at, at_time = matches.take(link, name, event), time
                at.uses = len(targets)
            for target in targets:
                (complete if target in finals else kept).append((target, at, start, at_time, first))
        if uses:
            matches.use(link, uses)
        return event

    def _begin(
        self,
        matches: KeyMatches,
        outcome: Outcome,
        event: Event,
        time: int,
        kept: list[Run],
        complete: list[Run],
    ) -> None:
        for _, name, targets in outcome.moves:
            link = matches.take(None, name, event)
            link.uses = len(targets)
            for target in targets:
                runs = complete if target in self._finals else kept
                runs.append((target, link, time, time, event.number))

    def _finish(self, matches: KeyMatches, kept: list[Run], complete: list[Run]) -> Sequence[Match]:
        """Take over what is left of the partial matches; return completed ones that nothing holds back any more."""
        matches.runs = kept
        if not complete and not matches.completed:
            return _NOTHING
        queue = JavaQueue(matches.completed, _BY_FIRST_EVENT)
        for run in complete:
            queue.add(run)
        strategy, skips = self._automaton.after_match, self._skips
        found = []
        while queue.items:
            if skips and matches.runs and matches.runs[0][4] < queue.items[0][4]:
                break
            _, link, _, _, _ = queue.poll()
            path = matches.path(link)
            if skips:
                bound = self._bound(strategy, path)
                matches.runs = pruned(matches, matches.runs, bound)
                queue.keep(pruned(matches, queue.items, bound))
            found.append(matches.match(path))
            matches.use(link, -1)
        return found

    def _bound(self, strategy: AfterMatchSkipStrategy, path: list[tuple[str, Event]]) -> int:
        """Return the number of the first event with which a match may start that is kept."""
        start = path[0][1].number
        if strategy.mode is SkipMode.TO_NEXT:
            return start + 1
        if strategy.mode is SkipMode.PAST_LAST_EVENT:
            return path[-1][1].number + 1
        events = [event.number for name, event in path if name == strategy.name]
        if not events:
            if strategy.throws:
                raise self._miss(f"skips to {strategy.name!r}, which must be in every match", path)
            return start
        bound = events[0] if strategy.mode is SkipMode.TO_FIRST else events[-1]
        if strategy.throws and bound == start:
            raise self._miss(
                f"skips to {strategy.name!r}, which must not be the first event of the match", path
            )
        return bound

    def _miss(self, requirement: str, path: list[tuple[str, Event]]) -> RecordError:
        return RecordError(
            requirement,
            who=self._who,
            got=f"a match of the steps {', '.join(dict.fromkeys(name for name, _ in path))}",
            hint="use another AfterMatchSkipStrategy, or do without throw_exception_on_miss()",
        )


_NEVER: Final = 1 << 64
