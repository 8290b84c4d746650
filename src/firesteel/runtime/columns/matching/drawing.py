"""The automaton of MATCH_RECOGNIZE as it is drawn: with the conditions as the query says them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firesteel.functions.columns.row_patterns import MatchRecognize
from firesteel.functions.patterns.conditions import ConditionContext, SimpleCondition
from firesteel.runtime.columns.matching.definition import pattern_definition
from firesteel.runtime.patterns.diagram import Diagram, diagram_of


class _Written(SimpleCondition):
    """A condition that is only read."""

    def __init__(self, text: str) -> None:
        self.text = text

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> Any:
        raise AssertionError(f"a condition of a drawing is asked: {self.text}")


def diagram_of_match(match: MatchRecognize) -> Diagram:
    """Return what a drawing of a pattern of rows shows."""
    pattern = match.pattern
    conditions = {one.variable: _Written(one.text) for one in match.conditions}
    diagram = diagram_of(pattern_definition(pattern, conditions))
    return replace(diagram, title=f"PATTERN ({pattern}); {diagram.title}")
