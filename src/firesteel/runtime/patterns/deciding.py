"""What becomes of a partial match when an event comes, as decisions that are made once.

Which transitions an event opens depends on the answers of conditions alone (Flink: NFA.createDecisionGraph asks them
again for each partial match). So a state has a tree: a `Question` asks one condition and has an answer's way on; at the
end of a way is an `Outcome`. Trees grow as events come; conditions are asked in Flink's order, and only if they matter.
"""

from __future__ import annotations

from typing import Final

from firesteel.runtime.patterns.states import Action, Ask, Automaton, Kind, State, Transition, truth

Answers = dict[int, bool]

Move = tuple[bool, str, tuple[int, ...]]
"""Whether the event is taken, for which step, and the states that the match is in afterwards: two if it is complete and
may also go on.
"""


class Outcome:
    """What a partial match becomes: nothing without `moves`, several if there are several.

    `stays`: it only goes on waiting in its state.
    """

    __slots__ = ("moves", "stays")

    def __init__(self, moves: tuple[Move, ...], stays: bool) -> None:
        self.moves = moves
        self.stays = stays


class Question:
    """A condition that must be asked before more can be said."""

    __slots__ = ("_answers", "_decisions", "_state", "condition", "no", "yes")

    def __init__(self, condition: int, decisions: Decisions, state: State, answers: Answers) -> None:
        self.condition = condition
        self.yes: Question | Outcome | None = None
        self.no: Question | Outcome | None = None
        self._decisions = decisions
        self._state = state
        self._answers = answers

    def grow(self, answer: bool) -> Question | Outcome:
        """Return what follows from an answer; the next time it is in `yes` or `no`."""
        follows = self._decisions.after(self._state, {**self._answers, self.condition: answer})
        if answer:
            self.yes = follows
        else:
            self.no = follows
        return follows


class Decisions:
    """The trees of all states; `roots` has them by the number of the state."""

    def __init__(self, automaton: Automaton) -> None:
        self._start: Final = automaton.start
        self.roots = [self.after(state, {}) for state in automaton.states]

    def after(self, state: State, answers: Answers) -> Question | Outcome:
        """Return what follows from these answers for a match in this state."""
        edges = _edges(state, answers)
        if isinstance(edges, Ask):
            return Question(edges.condition, self, state, answers)
        moves: list[Move] = []
        for edge in edges:
            if edge.action is Action.IGNORE:
                if state is not self._start:
                    moves.append((False, "", (edge.target.number,)))
                continue
            end = _end_after(edge.target, answers)
            if isinstance(end, Ask):
                return Question(end.condition, self, state, answers)
            ends = () if end is None else (end.number,)
            moves.append((True, edge.source.name, (edge.target.number, *ends)))
        if any(edge.target.kind is Kind.STOP for edge in edges):
            moves = _only_ends(moves, {end.target.number for end in edges if end.target.kind is Kind.FINAL})
        return Outcome(tuple(moves), moves == [(False, "", (state.number,))])


def _edges(state: State, answers: Answers) -> list[Transition] | Ask:
    """Return the transitions by which the match leaves the state, or stays in it, or what to ask first."""
    edges: list[Transition] = []
    states = [state]
    while states:
        for transition in states.pop().transitions:
            open_ = truth(transition.guard, answers)
            if isinstance(open_, Ask):
                return open_
            if not open_:
                continue
            if transition.action is Action.PROCEED:
                states.append(transition.target)
            else:
                edges.append(transition)
    return edges


def _end_after(state: State, answers: Answers) -> State | Ask | None:
    """Return the final state if what is left may be left out, or what to ask first."""
    states = [state]
    while states:
        for transition in states.pop().transitions:
            if transition.action is not Action.PROCEED:
                continue
            open_ = truth(transition.guard, answers)
            if isinstance(open_, Ask):
                return open_
            if open_ and transition.target.kind is Kind.FINAL:
                return transition.target
            if open_:
                states.append(transition.target)
    return None


def _only_ends(moves: list[Move], finals: set[int]) -> list[Move]:
    """Return what is left of a match that ends at a stop state: it may be complete, but does not go on."""
    kept = []
    for takes, name, targets in moves:
        ends = tuple(target for place, target in enumerate(targets) if place or target in finals)
        if ends:
            kept.append((takes, name, ends))
    return kept
