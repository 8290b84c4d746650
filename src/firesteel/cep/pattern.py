"""Patterns, defined step by step (Flink: org.apache.flink.cep.pattern)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from firesteel.cep.drawing.forms import Form, explained
from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.time import Duration
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.patterns.conditions import (
    IterativeCondition,
    RichAndCondition,
    RichOrCondition,
    SubtypeCondition,
    as_condition,
)
from firesteel.functions.patterns.definition import (
    GROUP_NAME,
    ConsumingStrategy,
    PatternDefinition,
    Quantifier,
    QuantifierProperty,
    Step,
    Times,
    WithinType,
)
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy
from firesteel.graph.checks import require, shown

__all__ = ["GroupPattern", "Pattern"]


class Pattern:
    """One step of a pattern, and through `get_previous` the steps before it.

    `begin` makes the first step; `next`, `followed_by`, ... append one and return it; the other methods say more of the
    step that they are called on, and return it. Conditions are functions of the event, or of the event and a context
    (see `IterativeCondition`), or objects. Raises ProgramError, which names the line, for what Flink refuses.

    >>> from firesteel.common import Duration
    >>> drop = Pattern.begin("high").where(lambda price: price > 100)
    >>> drop = drop.followed_by("low").where(lambda price: price < 50).within(Duration.of_seconds(10))
    >>> drop.get_name(), drop.get_previous().get_name()
    ('low', 'high')
    """

    def __init__(
        self,
        name: str,
        previous: Pattern | None,
        strategy: ConsumingStrategy,
        after_match: AfterMatchSkipStrategy,
    ) -> None:
        self._previous = previous
        self._after_match = after_match
        self._step = Step(name, Quantifier(strategy))

    # The first step

    @staticmethod
    def begin(
        name: str | Pattern, after_match_skip_strategy: AfterMatchSkipStrategy | None = None
    ) -> Pattern:
        """Return the first step: one with this name, or the steps of a pattern as a group."""
        strategy = after_match_skip_strategy
        if strategy is None:
            strategy = AfterMatchSkipStrategy.no_skip()
        require(
            strategy,
            (AfterMatchSkipStrategy,),
            call_site("begin"),
            "pass e.g. AfterMatchSkipStrategy.skip_past_last_event()",
        )
        return _step("begin", name, None, ConsumingStrategy.STRICT, strategy)

    # The next step

    def next(self, name: str | Pattern) -> Pattern:
        """Append a step whose event comes directly after the one before."""
        return self._append("next", name, ConsumingStrategy.STRICT)

    def followed_by(self, name: str | Pattern) -> Pattern:
        """Append a step whose event may come after others that do not fit."""
        return self._append("followed_by", name, ConsumingStrategy.SKIP_TILL_NEXT)

    def followed_by_any(self, name: str | Pattern) -> Pattern:
        """Append a step whose event may come after any others, also such that fit."""
        return self._append("followed_by_any", name, ConsumingStrategy.SKIP_TILL_ANY)

    def not_next(self, name: str) -> Pattern:
        """Append a step that must not fit the next event."""
        return self._append_absent("not_next", name, ConsumingStrategy.NOT_NEXT)

    def not_followed_by(self, name: str) -> Pattern:
        """Append a step that must fit no event until the next step; as the last step, within the pattern's time."""
        return self._append_absent("not_followed_by", name, ConsumingStrategy.NOT_FOLLOW)

    # Conditions

    def where(self, condition: Any) -> Self:
        """Require a condition; with a condition that is there already, both."""
        return self._add_condition("where", as_condition(condition, call_site("where")), RichAndCondition)

    def or_(self, condition: Any) -> Self:
        """Require a condition, or the one that is there already."""
        return self._add_condition("or_", as_condition(condition, call_site("or_")), RichOrCondition)

    def subtype(self, subtype_class: type) -> Self:
        """Require events of a class, besides the condition that is there already."""
        require(subtype_class, (type,), call_site("subtype"), "pass the class itself")
        return self._add_condition("subtype", SubtypeCondition(subtype_class), RichAndCondition)

    def until(self, until_condition: Any) -> Self:
        """Set the condition on an event after which a looping step takes no more events."""
        condition = as_condition(until_condition, call_site("until"))
        if self._step.until is not None:
            raise _malformed("until", "can be called once for a step", "a second condition")
        if not self._step.quantifier.looping:
            raise _malformed(
                "until",
                "requires a step that may occur any number of times",
                self._what(),
                "call one_or_more() or times_or_more(n) before it",
            )
        return self._set(until=condition)

    def within(
        self, window_time: Duration | None, within_type: WithinType = WithinType.FIRST_AND_LAST
    ) -> Self:
        """Limit the time between the first and the last event of a match, or between this event and the one before.

        The whole pattern has the least of the times between first and last that its steps set. None changes nothing.
        """
        require(within_type, (WithinType,), call_site("within"), "pass e.g. WithinType.PREVIOUS_AND_CURRENT")
        limit = _millis("within", window_time)
        if limit is None:
            return self
        if within_type is WithinType.FIRST_AND_LAST:
            return self._set(within=limit)
        return self._set(within_previous=limit)

    # How often

    def optional(self) -> Self:
        """Allow that the step is left out."""
        quantifier, previous = self._step.quantifier, self._previous
        if previous is not None and previous._step.quantifier.greedy:
            raise _malformed("optional", "requires a step before it that is not greedy", previous._what())
        if quantifier.optional:
            raise _malformed("optional", "can be called once for a step", self._what())
        if quantifier.strategy.negated:
            raise _malformed("optional", "requires a step that is not negated", self._what())
        return self._add_property(QuantifierProperty.OPTIONAL)

    def one_or_more(self, window_time: Duration | None = None) -> Self:
        """Let the step occur at least once; `window_time` is the time between two of its events."""
        return self._repeat("one_or_more", QuantifierProperty.LOOPING, 1, 1, window_time)

    def times_or_more(self, times: int, window_time: Duration | None = None) -> Self:
        """Let the step occur at least `times` times; `window_time` is the time between two of its events."""
        return self._repeat("times_or_more", QuantifierProperty.LOOPING, times, times, window_time)

    def times(
        self,
        from_times: int,
        to_times: int | Duration | None = None,
        window_time: Duration | None = None,
    ) -> Self:
        """Let the step occur exactly `from_times` times, or from `from_times` to `to_times` times.

        With 0 as the least, the step is optional. `window_time` is the time between two of its events.
        """
        if isinstance(to_times, Duration):
            to_times, window_time = None, to_times
        if to_times is None:
            return self._repeat("times", QuantifierProperty.TIMES, from_times, from_times, window_time)
        least = 1 if from_times == 0 else from_times
        self._repeat("times", QuantifierProperty.TIMES, least, to_times, window_time)
        return self._add_property(QuantifierProperty.OPTIONAL) if from_times == 0 else self

    def greedy(self) -> Self:
        """Let a step that may occur several times take as many events as it can."""
        quantifier = self._step.quantifier
        self._require_not_negated("greedy")
        if self._step.group is not None:
            raise _malformed("greedy", "requires a single step", "a group")
        if quantifier.inner is ConsumingStrategy.SKIP_TILL_ANY:
            raise _malformed("greedy", "requires a step without allow_combinations()", self._what())
        if quantifier.has_property(QuantifierProperty.SINGLE):
            raise _malformed("greedy", "requires a step that may occur several times", self._what())
        return self._add_property(QuantifierProperty.GREEDY)

    def allow_combinations(self) -> Self:
        """Allow that a step that occurs several times leaves out events that fit."""
        if self._step.quantifier.has_property(QuantifierProperty.SINGLE):
            raise _malformed(
                "allow_combinations", "requires a step that may occur several times", self._what()
            )
        return self._set_inner("allow_combinations", ConsumingStrategy.SKIP_TILL_ANY)

    def consecutive(self) -> Self:
        """Allow no other events between those of a step that occurs several times."""
        if self._step.quantifier.has_property(QuantifierProperty.SINGLE):
            raise _malformed("consecutive", "requires a step that may occur several times", self._what())
        return self._set_inner("consecutive", ConsumingStrategy.STRICT)

    # What it is

    def get_name(self) -> str:
        """Return the name of the step."""
        return self._step.name

    def get_previous(self) -> Pattern | None:
        """Return the step before; None if this is the first."""
        return self._previous

    def get_quantifier(self) -> Quantifier:
        """Return how the step follows the one before it, and how often it occurs."""
        return self._step.quantifier

    def get_times(self) -> Times | None:
        """Return how often the step occurs; None if once."""
        return self._step.times

    def get_condition(self) -> IterativeCondition | None:
        """Return the condition; None if every event fits."""
        return self._step.condition

    def get_until_condition(self) -> IterativeCondition | None:
        """Return the condition that ends the loop; None if there is none."""
        return self._step.until

    def get_window_size(self, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Duration | None:
        """Return the time that `within` has set on this step; None if none."""
        first = within_type is WithinType.FIRST_AND_LAST
        limit = self._step.within if first else self._step.within_previous
        return None if limit is None else Duration.of_millis(limit)

    def get_after_match_skip_strategy(self) -> AfterMatchSkipStrategy:
        """Return what happens to other matches after a match."""
        return self._after_match

    def definition(self) -> PatternDefinition:
        """Return the pattern that ends with this step as data; later calls do not change it."""
        return PatternDefinition(self._steps(), self._after_match)

    def explain(self, form: Form = "text") -> str:
        """Return a drawing of the automaton: its states, and what it takes, ignores and goes on to, and when."""
        return explained(self.definition(), form, call_site("explain"))

    def _steps(self) -> tuple[Step, ...]:
        steps = []
        pattern: Pattern | None = self
        while pattern is not None:
            steps.append(pattern._frozen())
            pattern = pattern._previous
        return tuple(reversed(steps))

    def _frozen(self) -> Step:
        return self._step

    def _append(self, call: str, name: str | Pattern, strategy: ConsumingStrategy) -> Pattern:
        return _step(call, name, self, strategy, self._after_match)

    def _append_absent(self, call: str, name: str, strategy: ConsumingStrategy) -> Pattern:
        if isinstance(name, Pattern):
            raise UnsupportedError(
                "requires the name of a step; a group of steps cannot be required to be absent",
                who=call_site(call),
                got="a pattern",
                hint="use two patterns, or name the event that must not come",
            )
        if self._step.quantifier.optional:
            raise UnsupportedError(
                "requires a step before it that is not optional",
                who=call_site(call),
                got=self._what(),
                hint="use two patterns, one with and one without the optional step",
            )
        return self._append(call, name, strategy)

    def _add_condition(self, call: str, condition: IterativeCondition, combined: Any) -> Self:
        if self._step.group is not None:
            raise UnsupportedError(
                "requires a single step", who=call_site(call), got="a group", hint="call it on a step in it"
            )
        before = self._step.condition
        return self._set(condition=condition if before is None else combined(before, condition))

    def _repeat(
        self, call: str, kind: QuantifierProperty, least: int, most: int, window_time: Duration | None
    ) -> Self:
        self._require_not_negated(call)
        quantifier = self._step.quantifier
        if not quantifier.has_property(QuantifierProperty.SINGLE):
            raise _malformed(call, "requires a step without a quantifier", self._what())
        if not all(isinstance(count, int) and count > 0 for count in (least, most)):
            raise _malformed(call, "requires numbers of times above 0", f"{least!r} and {most!r}")
        if most < least:
            raise _malformed(call, "requires the most times to be at least the least", f"{least} and {most}")
        times = Times(least, most, _millis(call, window_time))
        return self._set(quantifier=Quantifier(quantifier.strategy, frozenset({kind})), times=times)

    def _set_inner(self, call: str, strategy: ConsumingStrategy) -> Self:
        inner = self._step.quantifier.inner
        if inner is strategy:
            raise _malformed(call, "can be called once for a step", self._what())
        if inner is not ConsumingStrategy.SKIP_TILL_NEXT:
            raise _malformed(call, "requires either allow_combinations() or consecutive()", "both")
        return self._set(quantifier=replace(self._step.quantifier, inner=strategy))

    def _add_property(self, added: QuantifierProperty) -> Self:
        quantifier = self._step.quantifier
        return self._set(quantifier=replace(quantifier, properties=quantifier.properties | {added}))

    def _require_not_negated(self, call: str) -> None:
        if self._step.quantifier.strategy.negated:
            raise _malformed(call, "requires a step that is not negated", self._what())

    def _set(self, **changes: Any) -> Self:
        self._step = replace(self._step, **changes)
        return self

    def _what(self) -> str:
        """Describe the step for an error."""
        if self._step.group is not None:
            return "a group"
        properties = sorted(found.value for found in self._step.quantifier.properties)
        return (
            f"the step {self._step.name!r} ({self._step.quantifier.strategy.value}, {', '.join(properties)})"
        )

    def __repr__(self) -> str:
        return f"Pattern({' '.join(_shown(step) for step in self._steps())})"


class GroupPattern(Pattern):
    """A step that is a whole pattern; `begin`, `next`, `followed_by` and `followed_by_any` make it of a pattern."""

    def __init__(
        self,
        group: Pattern,
        previous: Pattern | None,
        strategy: ConsumingStrategy,
        after_match: AfterMatchSkipStrategy,
    ) -> None:
        super().__init__(GROUP_NAME, previous, strategy, after_match)
        self._group = group
        self._step = replace(self._step, group=())

    def get_raw_pattern(self) -> Pattern:
        """Return the pattern that is the group."""
        return self._group

    def _frozen(self) -> Step:
        return replace(self._step, group=self._group._steps())


def _step(
    call: str,
    name: object,
    previous: Pattern | None,
    strategy: ConsumingStrategy,
    after_match: AfterMatchSkipStrategy,
) -> Pattern:
    if isinstance(name, Pattern):
        return GroupPattern(name, previous, strategy, after_match)
    if not isinstance(name, str) or not name:
        raise ProgramError(
            "requires the name of a step, or a pattern",
            who=call_site(call),
            got=shown(name),
            hint="write e.g. Pattern.begin('first')",
        )
    return Pattern(name, previous, strategy, after_match)


def _millis(call: str, duration: Duration | None) -> int | None:
    if duration is None:
        return None
    require(duration, (Duration,), call_site(call), "write it as Duration.of_seconds(10)")
    return duration.to_millis()


def _malformed(call: str, requirement: str, got: str, hint: str | None = None) -> ProgramError:
    return ProgramError(requirement, who=call_site(call), got=got, hint=hint)


def _shown(step: Step) -> str:
    inner = step.name if step.group is None else f"({' '.join(map(_shown, step.group))})"
    return f"{step.quantifier.strategy.value} {inner}"
