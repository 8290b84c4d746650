"""The guards of transitions, as they follow from a step and the place where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from firesteel.functions.patterns.conditions import IterativeCondition
from firesteel.functions.patterns.definition import ConsumingStrategy, Step
from firesteel.runtime.patterns.states import ALWAYS, And, Ask, Guard, Not, State


@dataclass(eq=False)
class Group:
    """The group that is being built; `first` is whether it is the first of its repetitions."""

    step: Step
    first: bool = True

    @property
    def until(self) -> IterativeCondition | None:
        return self.step.until


@dataclass(eq=False)
class Place:
    """A step, where it stands: the steps before it, the step after it, and the group that it is in."""

    step: Step
    before: tuple[Step, ...]
    after: Step | None
    group: Group | None
    ends_group: bool

    @property
    def heads_group(self) -> bool:
        return self.group is not None and not self.before

    @property
    def heads_optional_group(self) -> bool:
        group = self.group
        return self.heads_group and group is not None and group.first and group.step.quantifier.optional


@dataclass(eq=False)
class Guards:
    """The numbers of the conditions, and the guards that steps get from them; `asked_for` are the steps of each."""

    conditions: list[IterativeCondition] = field(default_factory=list)
    asked_for: list[list[str]] = field(default_factory=list)
    _known: dict[int, Ask] = field(default_factory=dict)

    def of(self, condition: IterativeCondition | None, step: Step) -> Guard:
        if condition is None:
            return ALWAYS
        known = self._known.get(id(condition))
        if known is None:
            known = self._known[id(condition)] = Ask(len(self.conditions))
            self.conditions.append(condition)
            self.asked_for.append([])
        if step.name not in self.asked_for[known.condition]:
            self.asked_for[known.condition].append(step.name)
        return known

    def until(self, place: Place) -> Guard | None:
        step = place.step
        return None if step.until is None else self.of(step.until, step)

    def take(self, place: Place, step: Step | None = None) -> Guard:
        step = step or place.step
        return self._in_group(self.of(step.condition, step), place.group)

    def proceed(self, group: Group | None) -> Guard:
        return self._in_group(ALWAYS, group)

    def ignore(self, place: Place, *, inner: bool) -> Guard | None:
        """Return what a state ignores, None if nothing: before the step, or between its own events (`inner`)."""
        quantifier, group = place.step.quantifier, place.group
        if place.heads_group and group is not None:
            quantifier, inner = group.step.quantifier, inner or not group.first
        strategy = quantifier.inner if inner else quantifier.strategy
        if strategy is ConsumingStrategy.SKIP_TILL_NEXT:
            return self._in_group(Not(self.of(place.step.condition, place.step)), group)
        if strategy is ConsumingStrategy.SKIP_TILL_ANY:
            return self._in_group(ALWAYS, group)
        return None

    def _in_group(self, guard: Guard, group: Group | None) -> Guard:
        if group is None or group.until is None:
            return guard
        return unless(self.of(group.until, group.step), guard)


def unless(until: Guard | None, guard: Guard) -> Guard:
    """Return the guard that holds as long as `until` does not."""
    return guard if until is None else And(Not(until), guard)


def yield_to(sink: State, take: Guard) -> None:
    """Let what follows a greedy step do nothing with events that the step takes."""
    for transition in sink.transitions:
        transition.guard = And(transition.guard, Not(take))
