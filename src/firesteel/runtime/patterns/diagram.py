"""What a drawing of a pattern shows, whatever its form: states and the ways out of them, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.describing import bracketed, described
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.states import (
    ALWAYS,
    Action,
    Always,
    And,
    Ask,
    Automaton,
    Guard,
    Kind,
    Not,
    SavedShapeState,
    State,
    Transition,
    states_of_shape,
)

__all__ = ["Diagram", "DrawnState", "Way", "diagram_of", "diagram_of_shape"]

_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))
_ORDER: Final = {Kind.NORMAL: 0, Kind.PENDING: 0, Kind.STOP: 1, Kind.FINAL: 2}


@dataclass(frozen=True)
class Way:
    """A way out of a state; `target` is the place of the state that it leads to, `condition` is "" if it always may."""

    action: Action
    target: int
    condition: str


@dataclass(frozen=True)
class DrawnState:
    """A state: `name` is its own, `remark` says what is special about it, or is "".

    `number` is its place in the automaton.
    """

    name: str
    kind: Kind
    remark: str
    ways: tuple[Way, ...]
    number: int


@dataclass(frozen=True)
class Diagram:
    """The states that a match can reach, the first one first; `title` is what is said of the whole pattern."""

    title: str
    states: tuple[DrawnState, ...]


def diagram_of(pattern: PatternDefinition) -> Diagram:
    """Return what a drawing of a pattern shows. Raises ProgramError, without a place, if the pattern means nothing."""
    automaton = compiled(pattern)
    # States are made from the last step to the first.
    reached = sorted(_reached(automaton.start), key=lambda state: (_ORDER[state.kind], -state.number))
    reached.remove(automaton.start)
    reached.insert(0, automaton.start)
    places = {state.number: place for place, state in enumerate(reached)}
    names = _names(reached)
    return Diagram(
        _title(automaton),
        tuple(
            DrawnState(
                names[state.number],
                state.kind,
                _remark(automaton, state),
                tuple(
                    Way(way.action, places[way.target.number], _text(way.guard, automaton))
                    for way in _ways(state)
                ),
                state.number,
            )
            for state in reached
        ),
    )


def diagram_of_shape(shape: Sequence[str]) -> Diagram:
    """Return what can be drawn of a pattern of which only the saved shape is known: all but its conditions.

    >>> found = diagram_of_shape(["no_skip", "0 $endState$ final", "1 a normal 5 ms", "1 take -> 0"])
    >>> found.title, [(state.name, state.remark) for state in found.states]
    ('after a match: no skip', [('a', 'begins, within 5 ms of the event before'), ('match', '')])
    """
    saved = states_of_shape(shape)
    drawn = sorted(saved, key=lambda state: (_ORDER[state.kind], -state.number))
    places = {state.number: place for place, state in enumerate(drawn)}
    names = _names(drawn)
    return Diagram(
        f"after a match: {shape[0].replace('_', ' ')}",
        tuple(
            DrawnState(
                names[state.number],
                state.kind,
                _remarks(state.kind, begins=place == 0, limit=state.limit),
                tuple(Way(action, places[target], "") for action, target in state.ways if target in places),
                state.number,
            )
            for place, state in enumerate(drawn)
        ),
    )


def _reached(start: State) -> list[State]:
    found = [start]
    for state in found:
        found += [way.target for way in _ways(state) if way.target not in found]
    # A state may be the target of two ways of one state.
    return [*dict.fromkeys(found)]


def _ways(state: State) -> list[Transition]:
    """Return the ways out of a state; a match that has stopped, or is complete, does not leave its state."""
    if state.kind in (Kind.STOP, Kind.FINAL):
        return []
    return [way for way in state.transitions if way.guard != Not(ALWAYS)]


def _names(states: Sequence[State | SavedShapeState]) -> dict[int, str]:
    """Return the names by number: of a step that has several states, the others are numbered."""
    names: dict[int, str] = {}
    for state in states:
        name = {Kind.FINAL: "match", Kind.STOP: f"no match: {state.name}"}.get(state.kind, state.name)
        same = sum(other.rpartition(" (")[0] == name or other == name for other in names.values())
        names[state.number] = f"{name} ({same + 1})" if same else name
    return names


def _remark(automaton: Automaton, state: State) -> str:
    limit = automaton.within_previous.get(state.number)
    return _remarks(state.kind, begins=state is automaton.start, limit=limit)


def _remarks(kind: Kind, *, begins: bool, limit: int | None) -> str:
    remarks = ["begins"] if begins else []
    if kind is Kind.PENDING:
        remarks.append("a match when its time is over")
    if limit is not None:
        remarks.append(f"within {_duration(limit)} of the event before")
    return ", ".join(remarks)


def _title(automaton: Automaton) -> str:
    within = "" if automaton.within is None else f"within {_duration(automaton.within)}; "
    return f"{within}after a match: {_skipping(automaton.after_match)}"


def _skipping(strategy: AfterMatchSkipStrategy) -> str:
    words = strategy.mode.value.replace("_", " ")
    named = f"{words} {strategy.name}" if strategy.name else words
    return f"{named} or fail" if strategy.throws else named


def _duration(millis: int) -> str:
    """Return a time in the units that it has.

    >>> _duration(90_500)
    '1 min 30 s 500 ms'
    """
    parts = []
    for unit, size in _UNITS:
        amount, millis = divmod(millis, size)
        if amount:
            parts.append(f"{amount} {unit}")
    return " ".join(parts)


def _text(guard: Guard, automaton: Automaton) -> str:
    match guard:
        case Always():
            return ""
        case Ask(condition):
            return described(automaton.conditions[condition])
        case Not(inner):
            return f"not {bracketed(_text(inner, automaton), 'not')}"
        case And(left, right):
            parts = [(part, _text(part, automaton)) for part in (left, right) if part != ALWAYS]
            return " and ".join(
                text if isinstance(part, Not) else bracketed(text, "and") for part, text in parts
            )
