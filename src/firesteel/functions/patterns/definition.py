"""A pattern as data: what the fluent API makes, and what a text or a query can be compiled to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from firesteel.functions.patterns.conditions import IterativeCondition
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy

__all__ = [
    "ConsumingStrategy",
    "PatternDefinition",
    "Quantifier",
    "QuantifierProperty",
    "Step",
    "Times",
    "WithinType",
]

GROUP_NAME: Final = "GroupPattern"


class ConsumingStrategy(Enum):
    """Which events may lie between the last event of a match and the next one."""

    STRICT = "next"
    """None."""
    SKIP_TILL_NEXT = "followed_by"
    """Those that do not fit."""
    SKIP_TILL_ANY = "followed_by_any"
    """Any, so that an event that fits can also be left out."""
    NOT_FOLLOW = "not_followed_by"
    """Any but those that fit: no event up to the next step may."""
    NOT_NEXT = "not_next"
    """The next event must not fit."""

    @property
    def negated(self) -> bool:
        """Whether the step says which events must not come."""
        return self in (ConsumingStrategy.NOT_FOLLOW, ConsumingStrategy.NOT_NEXT)


class WithinType(Enum):
    """Which two events `within` limits the time between."""

    FIRST_AND_LAST = "first and last"
    PREVIOUS_AND_CURRENT = "previous and current"


class QuantifierProperty(Enum):
    """A property of how often a step occurs."""

    SINGLE = "single"
    LOOPING = "looping"
    TIMES = "times"
    OPTIONAL = "optional"
    GREEDY = "greedy"


@dataclass(frozen=True)
class Times:
    """How often a step that may occur several times occurs, at least and, if it is not looping, at most.

    `within` is the time (milliseconds) between its events, None if there is no limit.
    """

    least: int
    most: int
    within: int | None = None


@dataclass(frozen=True)
class Quantifier:
    """How a step follows the one before it, and how often it occurs.

    `inner` says which events may lie between its own events.
    """

    strategy: ConsumingStrategy
    properties: frozenset[QuantifierProperty] = frozenset({QuantifierProperty.SINGLE})
    inner: ConsumingStrategy = ConsumingStrategy.SKIP_TILL_NEXT

    def has_property(self, quantifier_property: QuantifierProperty) -> bool:
        """Return whether the step has the property."""
        return quantifier_property in self.properties

    def get_consuming_strategy(self) -> ConsumingStrategy:
        """Return how the step follows the one before it."""
        return self.strategy

    def get_inner_consuming_strategy(self) -> ConsumingStrategy:
        """Return how the events of the step follow each other."""
        return self.inner

    @property
    def optional(self) -> bool:
        """Whether the step may be left out."""
        return QuantifierProperty.OPTIONAL in self.properties

    @property
    def greedy(self) -> bool:
        """Whether the step takes as many events as it can."""
        return QuantifierProperty.GREEDY in self.properties

    @property
    def looping(self) -> bool:
        """Whether there is no limit to how often the step occurs."""
        return QuantifierProperty.LOOPING in self.properties


@dataclass(frozen=True, eq=False)
class Step:
    """One step: a name and a condition, or a group of steps.

    Without a condition every event fits. `within` and `within_previous` are milliseconds: between the match's first and
    last event, and between an event and the one before it. A group has no condition of its own, and its name says
    nothing.
    """

    name: str
    quantifier: Quantifier
    condition: IterativeCondition | None = None
    until: IterativeCondition | None = None
    times: Times | None = None
    within: int | None = None
    within_previous: int | None = None
    group: tuple[Step, ...] | None = None

    def steps(self) -> Iterator[Step]:
        """Yield the step, or all steps of the group and of groups within it."""
        if self.group is None:
            yield self
        else:
            for step in self.group:
                yield from step.steps()


@dataclass(frozen=True, eq=False)
class PatternDefinition:
    """A whole pattern: its steps in order, and what happens after a match."""

    steps: tuple[Step, ...]
    after_match: AfterMatchSkipStrategy = field(default_factory=AfterMatchSkipStrategy.no_skip)

    def all_steps(self) -> Iterator[Step]:
        """Yield all steps that have a condition, also those within groups, in order."""
        for step in self.steps:
            yield from step.steps()
