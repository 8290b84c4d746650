"""Which conditions decide whether an event changes the partial matches that wait in some states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from firesteel.functions.patterns.conditions import SimpleCondition
from firesteel.runtime.patterns.deciding import Outcome, Question
from firesteel.runtime.patterns.states import Action, Automaton, Kind

_SETS: Final = 1 << 12
"""The number of sets of states for which is remembered what changes a match in them."""

Watch = tuple[int, ...] | None
"""Conditions on events alone without which an event changes no match; None if one may be changed without them."""


class Watches:
    """What to watch for in each set of states; `roots` are the decisions of the states.

    `of` has the answer for partial matches in these states.
    """

    def __init__(self, automaton: Automaton, roots: Sequence[Question | Outcome]) -> None:
        self._automaton = automaton
        self._quiet = [*map(self._quiet_without, roots)]
        self.of = lru_cache(_SETS)(self._of)

    def of_all(self) -> Watch:
        """Return what to watch for in all states in which a partial match can wait."""
        start, reached = self._automaton.start, dict[int, None]()
        for state in self._automaton.states:
            for way in state.transitions:
                begins = state is start and way.action is Action.IGNORE
                if (
                    way.action is not Action.PROCEED
                    and not begins
                    and way.target.kind in (Kind.NORMAL, Kind.PENDING)
                ):
                    reached[way.target.number] = None
        return self._of((*reached,))

    def _of(self, states: tuple[int, ...]) -> Watch:
        found: dict[int, None] = {}
        for state in states:
            quiet = self._quiet[state]
            if quiet is None:
                return None
            found |= dict.fromkeys(quiet)
        return (*found,)

    def _quiet_without(self, node: Question | Outcome) -> list[int] | None:
        """Return the conditions without which an event leaves a match in its state.

        None if such an event may change it, or if other events than this one have a part in it.
        """
        asked = []
        while isinstance(node, Question):
            if not isinstance(self._automaton.conditions[node.condition], SimpleCondition):
                return None
            asked.append(node.condition)
            node = node.no or node.grow(False)
        return asked if node.stays else None
