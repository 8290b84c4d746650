"""The states and transitions that a pattern is compiled to (Agrawal et al., "Efficient Pattern Matching over Event
Streams", 2008, as Flink has it in NFACompiler).

A transition takes the event, ignores it, or proceeds to another state without using it up. Its guard is a formula over
the conditions of the pattern, which are numbered, so that what follows from an event is a function of their answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from firesteel.functions.patterns.conditions import IterativeCondition
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy


@dataclass(frozen=True)
class Always:
    """The guard that always holds."""


@dataclass(frozen=True)
class Ask:
    """The guard that holds if a condition does; `condition` is its number."""

    condition: int


@dataclass(frozen=True)
class Not:
    """The guard that holds if another does not."""

    inner: Guard


@dataclass(frozen=True)
class And:
    """The guard that holds if two others do; the second matters only if the first holds."""

    left: Guard
    right: Guard


Guard = Always | Ask | Not | And
ALWAYS: Final = Always()


def truth(guard: Guard, answers: Mapping[int, bool]) -> bool | Ask:
    """Return whether the guard holds, or which condition must be asked first.

    >>> truth(And(Not(Ask(0)), Ask(1)), {0: False})
    Ask(condition=1)
    """
    match guard:
        case Always():
            return True
        case Ask(condition):
            return answers.get(condition, guard)
        case Not(inner):
            found = truth(inner, answers)
            return found if isinstance(found, Ask) else not found
        case And(left, right):
            found = truth(left, answers)
            return truth(right, answers) if found is True else found


class Action(Enum):
    """What a transition does with the event."""

    TAKE = "take"
    IGNORE = "ignore"
    PROCEED = "proceed"


class Kind(Enum):
    """What it means to be in a state."""

    NORMAL = "normal"
    FINAL = "final"
    """The match is complete."""
    STOP = "stop"
    """An event came that must not come: the partial match ends."""
    PENDING = "pending"
    """The match is complete if its time passes without such an event."""


@dataclass(eq=False, slots=True)
class Transition:
    """A way out of a state."""

    action: Action
    source: State
    target: State
    guard: Guard


@dataclass(eq=False, slots=True)
class State:
    """A state; `number` is its place in the automaton, `name` the step whose event it waits for.

    `repeated` distinguishes it from the first state that was made for the step.
    """

    number: int
    name: str
    kind: Kind
    repeated: bool
    transitions: list[Transition] = field(default_factory=list)

    def add(self, action: Action, target: State, guard: Guard) -> None:
        """Add a transition."""
        self.transitions.append(Transition(action, self, target, guard))


@dataclass(frozen=True, eq=False)
class Automaton:
    """A compiled pattern.

    `within` is the time between the first and last event of a match, `within_previous` that between an event and the
    one before it, by the number of the state in which a partial match waits (milliseconds, both positive). `conditions`
    have the numbers that guards use; `asked_for` names the steps of each.
    """

    states: tuple[State, ...]
    start: State
    conditions: tuple[IterativeCondition, ...]
    asked_for: tuple[str, ...]
    within: int | None
    within_previous: Mapping[int, int]
    after_match: AfterMatchSkipStrategy

    @property
    def shape(self) -> list[str]:
        """The automaton without its conditions, as lines of text: two patterns of one shape understand each other's
        partial matches.
        """
        lines = [f"{self.after_match.mode.value} {self.after_match.name or ''}".rstrip()]
        for state in self.states:
            limit = self.within_previous.get(state.number)
            lines.append(
                f"{state.number} {state.name} {state.kind.value}" + (f" {limit} ms" if limit else "")
            )
            lines += [
                f"{state.number} {transition.action.value} -> {transition.target.number}"
                for transition in state.transitions
            ]
        return lines


class SavedShapeState(NamedTuple):
    """A state in a saved shape; `limit` is the time since the event before (milliseconds), `ways` lead to numbers."""

    number: int
    name: str
    kind: Kind
    limit: int | None
    ways: tuple[tuple[Action, int], ...]


_STATE: Final = re.compile(rf"(\d+) (.+) ({'|'.join(kind.value for kind in Kind)})(?: (\d+) ms)?")
_WAY: Final = re.compile(rf"(\d+) ({'|'.join(action.value for action in Action)}) -> (\d+)")


def states_of_shape(shape: Sequence[str]) -> list[SavedShapeState]:
    """Return the states of a saved shape.

    >>> states_of_shape(["no_skip", "0 $endState$ final", "1 a normal", "1 take -> 0"])[1].ways
    ((<Action.TAKE: 'take'>, 0),)
    """
    ways: dict[int, list[tuple[Action, int]]] = {}
    for way in filter(None, map(_WAY.fullmatch, shape)):
        ways.setdefault(int(way[1]), []).append((Action(way[2]), int(way[3])))
    return [
        SavedShapeState(
            int(found[1]),
            found[2],
            Kind(found[3]),
            None if found[4] is None else int(found[4]),
            tuple(ways.get(int(found[1]), ())),
        )
        for found in filter(None, map(_STATE.fullmatch, shape[1:]))
    ]


def waits_for(shape: Sequence[str]) -> dict[int, str]:
    """Return the step whose event a partial match waits for, by the number of the state, from a saved shape.

    >>> waits_for(["no_skip", "0 $endState$ final", "1 b pending 5 ms", "1 ignore -> 1", "2 a normal", "2 take -> 1"])
    {1: 'not b', 2: 'a'}
    """
    return {
        state.number: f"not {state.name}" if state.kind is Kind.PENDING else state.name
        for state in states_of_shape(shape)
        if state.kind in (Kind.NORMAL, Kind.PENDING)
    }
