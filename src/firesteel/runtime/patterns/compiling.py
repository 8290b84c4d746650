"""From a pattern to an automaton (Flink: NFACompiler).

The automaton is built from the last step to the first: each step gets the state that follows it and returns the state
with which it begins. A step that may occur several times becomes several states; a group is built from its steps, once
for each time it may occur.

Contiguity is what a state ignores: nothing (`next`), what does not fit (`followed_by`), or anything
(`followed_by_any`). If waiting must not open further ways out, the ignored event leads to a second state without them.
What must not come is a way to a stop state out of all states in which it matters. Greed is a guard: what follows a
greedy step does nothing with events that the step can take.
"""

from __future__ import annotations

from firesteel.common.errors import ProgramError
from firesteel.functions.patterns.conditions import simplified
from firesteel.functions.patterns.definition import (
    ConsumingStrategy,
    PatternDefinition,
    QuantifierProperty,
    Step,
    Times,
)
from firesteel.runtime.patterns.guards import Group, Guards, Place, unless, yield_to
from firesteel.runtime.patterns.states import (
    Action,
    And,
    Automaton,
    Guard,
    Kind,
    Not,
    State,
)

_END = "$endState$"


def compiled(pattern: PatternDefinition) -> Automaton:
    """Return the automaton of a pattern. Raises ProgramError, without a place, if the pattern means nothing.

    >>> from firesteel.functions.patterns.definition import Quantifier
    >>> step = Step("a", Quantifier(ConsumingStrategy.STRICT))
    >>> compiled(PatternDefinition((step,))).shape
    ['no_skip', '0 $endState$ final', '1 a normal', '1 take -> 0']
    """
    _check(pattern)
    return _Compiler(pattern).compiled()


def _check(pattern: PatternDefinition) -> None:
    names = [step.name for step in pattern.all_steps()]
    twice = next((name for position, name in enumerate(names) if name in (*names[:position], _END)), None)
    if twice is not None:
        raise ProgramError(
            "requires each step to have a name of its own", got=f"the name {twice!r} twice", hint="rename one"
        )
    skips_to = pattern.after_match.name
    if skips_to is not None and skips_to not in [step.name for step in pattern.steps if step.group is None]:
        raise ProgramError(
            "requires the step that its AfterMatchSkipStrategy names",
            got=f"the name {skips_to!r}, and the steps {', '.join(names)}",
            hint="name a step of the pattern that is in no group",
        )


class _Compiler:
    def __init__(self, pattern: PatternDefinition) -> None:
        self._pattern = pattern
        self._states: list[State] = []
        self._names: set[str] = set()
        self._stops: dict[str, State] = {}
        self._guards = Guards()
        self._within = _within(pattern)
        self._within_previous: dict[int, int] = {}
        self._before_greed: dict[State, State] = {}

    def compiled(self) -> Automaton:
        end = self._state(_END, Kind.FINAL)
        start = self._chain(self._pattern.steps, end, None, None)
        self._check_times()
        self._check_end()
        _check_loops(self._states)
        return Automaton(
            tuple(self._states),
            start,
            tuple(map(simplified, self._guards.conditions)),
            tuple(" and ".join(map(repr, sorted(names))) for names in self._guards.asked_for),
            self._within,
            {state: limit for state, limit in self._within_previous.items() if limit > 0},
            self._pattern.after_match,
        )

    # Checks that need the states

    def _check_times(self) -> None:
        longest = max(self._within_previous.values(), default=0)
        if self._within is not None and longest > self._within:
            raise ProgramError(
                "requires the time between two events to be at most the time of the whole match",
                got=f"{longest} ms and {self._within} ms",
            )

    def _check_end(self) -> None:
        last = self._pattern.steps[-1]
        absent = last.quantifier.strategy is ConsumingStrategy.NOT_FOLLOW
        if absent and not any(state.kind is Kind.PENDING for state in self._states):
            raise ProgramError(
                "requires a time within which the events of a last not_followed_by must not come",
                got=f"not_followed_by({last.name!r}) as the last step, and no time",
                hint="call within(...) on it",
            )

    # States

    def _state(self, name: str, kind: Kind, place: Place | None = None) -> State:
        """Add a state; with `place` it waits for an event of that step, within the step's time."""
        repeated = name in self._names
        self._names.add(name)
        state = State(len(self._states), name, kind, repeated)
        self._states.append(state)
        if place is not None:
            times = place.step.times
            limit = place.step.within_previous if times is None else times.within if repeated else None
            if limit is not None:
                self._within_previous[state.number] = limit
        return state

    def _stop(self, name: str, guard: Guard) -> State:
        stop = self._stops.get(name)
        if stop is None:
            stop = self._stops[name] = self._state(name, Kind.STOP)
            stop.add(Action.TAKE, stop, guard)
        return stop

    def _copy(self, state: State) -> State:
        copy = self._state(state.name, state.kind)
        for transition in state.transitions:
            target = copy if transition.target is state else transition.target
            copy.add(transition.action, target, transition.guard)
        return copy

    def _forgetting(self, sink: State, place: Place) -> State:
        """Return `sink`, or a copy without the ways to stop states that an event of this optional step closes."""
        absent = self._absent_before(place)
        if not absent or not place.step.quantifier.optional:
            return sink
        closed = {name for name, _ in absent}
        copy = self._state(sink.name, sink.kind)
        for transition in sink.transitions:
            target = transition.target
            if transition.action is not Action.PROCEED:
                target = copy if target is sink else target
            elif target.kind is not Kind.STOP:
                target = self._forgetting(target, place)
            elif target.name in closed:
                continue
            copy.add(transition.action, target, transition.guard)
        return copy

    def _absent_before(self, place: Place) -> list[tuple[str, Guard]]:
        """Return what must not come before this step: the absent steps before it, also across optional ones."""
        found = []
        for step in reversed(place.before):
            if step.quantifier.strategy is ConsumingStrategy.NOT_FOLLOW:
                found.append((step.name, self._guards.take(place, step)))
            elif not step.quantifier.optional:
                break
        return found

    def _stop_before(self, state: State, place: Place) -> None:
        for name, guard in self._absent_before(place):
            state.add(Action.PROCEED, self._stop(name, guard), guard)

    def _stop_after(self, state: State, place: Place) -> None:
        after = place.after
        if after is not None and after.quantifier.strategy is ConsumingStrategy.NOT_FOLLOW:
            guard = self._guards.take(place, after)
            state.add(Action.PROCEED, self._stop(after.name, guard), guard)

    # Steps

    def _chain(self, steps: tuple[Step, ...], sink: State, after: Step | None, group: Group | None) -> State:
        for position in range(len(steps) - 1, -1, -1):
            last = position == len(steps) - 1
            place = Place(
                steps[position], steps[:position], after, group, ends_group=last and group is not None
            )
            sink = (
                self._absent(place, sink) if position and _negated(place.step) else self._present(place, sink)
            )
            after = place.step
        return sink

    def _absent(self, place: Place, sink: State) -> State:
        step = place.step
        guard = self._guards.take(place)
        if step.quantifier.strategy is ConsumingStrategy.NOT_NEXT:
            state = self._state(step.name, Kind.NORMAL, place)
            # The event that follows shows that the match is complete: it is used up.
            action = Action.IGNORE if sink.kind is Kind.FINAL else Action.PROCEED
            stop = self._stop(step.name, guard)
            state.add(action, sink, Not(guard))
            state.add(Action.PROCEED, stop, guard)
            return state
        if sink.kind is not Kind.FINAL or not (self._within or step.within_previous):
            if place.ends_group:
                raise ProgramError(
                    "requires a step after not_followed_by in its group",
                    got=f"not_followed_by({step.name!r}) as the last step of a group",
                    hint="move it behind the group, or the step after the group into it",
                )
            return sink  # the states before it have ways to its stop state
        state = self._state(step.name, Kind.PENDING, place)
        state.add(Action.PROCEED, self._stop(step.name, guard), guard)
        state.add(Action.IGNORE, state, Not(guard))
        return state

    def _present(self, place: Place, sink: State) -> State:
        quantifier, times = place.step.quantifier, place.step.times
        if quantifier.looping:
            assert times is not None
            loop = self._loop(place, self._forgetting(sink, place))
            state = self._times(place, loop, sink, times)
        elif quantifier.has_property(QuantifierProperty.TIMES):
            assert times is not None
            state = self._times(place, sink, sink, times)
        else:
            take, ignore = self._guards.take(place), self._guards.ignore(place, inner=False)
            state = self._once(place, sink, sink, take, ignore, optional=quantifier.optional, first=True)
        self._stop_before(state, place)
        return state

    def _once(
        self,
        place: Place,
        sink: State,
        proceed: State,
        take: Guard,
        ignore: Guard | None,
        *,
        optional: bool,
        first: bool,
    ) -> State:
        """Add the states of one occurrence of a step; `first` is whether it is the first one."""
        step = place.step
        if step.group is not None:
            return self._group(place, sink, proceed if optional else None, first)
        state = self._state(step.name, Kind.NORMAL, place)
        taken = self._forgetting(sink, place)
        state.add(Action.TAKE, taken, take)
        if optional:
            self._proceed(place, state, proceed)
        if ignore is not None:
            waiting = state
            if optional or place.heads_optional_group:
                waiting = self._state(step.name, Kind.NORMAL)
                waiting.add(Action.TAKE, taken, take)
                waiting.add(Action.IGNORE, waiting, ignore)
                self._stop_before(waiting, place)
            state.add(Action.IGNORE, waiting, ignore)
        return state

    def _proceed(self, place: Place, state: State, target: State) -> None:
        guard, until = self._guards.proceed(place.group), self._guards.until(place)
        if place.step.quantifier.greedy and until is not None:
            state.add(Action.PROCEED, self._before_greed.get(target, target), And(guard, until))
            guard = And(guard, Not(until))
        state.add(Action.PROCEED, target, guard)

    def _times(self, place: Place, sink: State, proceed: State, times: Times) -> State:
        until = self._guards.until(place)
        inner = self._guards.ignore(place, inner=True)
        take = unless(until, self._guards.take(place))
        between = None if inner is None else unless(until, inner)
        if place.step.quantifier.greedy and times.least != times.most:
            self._keep_ungreedy(sink, until)
            yield_to(sink, take)
        state = sink
        for position in range(times.most - 1):
            enough = position < times.most - times.least
            state = self._once(place, state, proceed, take, between, optional=enough, first=False)
            self._stop_after(state, place)
        optional = place.step.quantifier.optional
        before = self._guards.ignore(place, inner=False)
        return self._once(place, state, proceed, take, before, optional=optional, first=True)

    def _keep_ungreedy(self, sink: State, until: Guard | None) -> None:
        """Keep what follows a greedy step as it is for the time after `until`, when the step takes nothing."""
        if until is not None:
            self._before_greed[sink] = self._copy(sink)

    def _loop(self, place: Place, sink: State) -> State:
        """Add the states in which a step has occurred as often as it must, and may occur again."""
        if place.step.group is not None:
            return self._group_loop(place, sink)
        until = self._guards.until(place)
        inner = self._guards.ignore(place, inner=True)
        take = unless(until, self._guards.take(place))
        state = self._state(place.step.name, Kind.NORMAL, place)
        greedy = place.step.quantifier.greedy
        if greedy:
            self._keep_ungreedy(sink, until)
        self._proceed(place, state, sink)
        if greedy:
            yield_to(sink, self._guards.take(place))
        state.add(Action.TAKE, state, take)
        self._stop_after(state, place)
        if inner is not None:
            between = unless(until, inner)
            waiting = self._state(place.step.name, Kind.NORMAL)
            waiting.add(Action.TAKE, state, take)
            waiting.add(Action.IGNORE, waiting, between)
            state.add(Action.IGNORE, waiting, between)
            self._stop_after(waiting, place)
        return state

    # Groups

    def _group(self, place: Place, sink: State, proceed: State | None, first: bool) -> State:
        """Add the states of one occurrence of a group; `proceed` is where it may be left out to, if it may."""
        step = place.step
        assert step.group is not None
        state = self._chain(step.group, sink, place.after, Group(step, first))
        if proceed is not None:
            state.add(Action.PROCEED, proceed, self._guards.proceed(place.group))
        return state

    def _group_loop(self, place: Place, sink: State) -> State:
        step = place.step
        assert step.group is not None
        guard = self._guards.proceed(place.group)
        again = self._state(step.name, Kind.NORMAL, place)
        state = self._chain(step.group, again, place.after, Group(step, first=False))
        state.add(Action.PROCEED, sink, guard)
        again.add(Action.PROCEED, state, guard)
        return state


def _negated(step: Step) -> bool:
    return step.quantifier.strategy.negated


def _within(pattern: PatternDefinition) -> int | None:
    """Return the least time of all steps. As in Flink, that of the last step of a group says nothing."""
    limits: list[int] = []

    def gather(steps: tuple[Step, ...], *, nested: bool) -> None:
        limits.extend(step.within for step in (steps[:-1] if nested else steps) if step.within is not None)
        for step in steps:
            if step.group is not None:
                gather(step.group, nested=True)

    gather(pattern.steps, nested=False)
    least = min(limits, default=0)
    return least if least > 0 else None


def _check_loops(states: list[State]) -> None:
    """Raise ProgramError if a group that may match nothing repeats: it would repeat without an end."""
    done: set[State] = set()

    def visit(state: State, path: tuple[State, ...]) -> None:
        if state in path:
            raise ProgramError(
                "requires a group that repeats to take at least one event",
                got="a group of optional steps that may occur more than once",
                hint="make one of its steps required, or the whole group optional",
            )
        if state in done:
            return
        for transition in state.transitions:
            if transition.action is Action.PROCEED:
                visit(transition.target, (*path, state))
        done.add(state)

    for state in states:
        visit(state, ())
