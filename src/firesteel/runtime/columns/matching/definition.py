"""The pattern of MATCH_RECOGNIZE as the engine takes it (Flink: PatternVisitor of CommonExecMatch)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from firesteel.functions.columns.row_patterns import PatternStep, RowPattern
from firesteel.functions.patterns.conditions import IterativeCondition
from firesteel.functions.patterns.definition import (
    ConsumingStrategy,
    PatternDefinition,
    Quantifier,
    QuantifierProperty,
    Step,
    Times,
)
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy, SkipMode

_MODES: Final = {
    "PAST LAST ROW": SkipMode.PAST_LAST_EVENT,
    "TO NEXT ROW": SkipMode.TO_NEXT,
    "TO FIRST": SkipMode.TO_FIRST,
    "TO LAST": SkipMode.TO_LAST,
}


def pattern_definition(
    pattern: RowPattern, conditions: Mapping[str, IterativeCondition]
) -> PatternDefinition:
    """Return the definition of a pattern; a variable without a condition takes any row.

    >>> found = pattern_definition(RowPattern((PatternStep("A", 1, None), PatternStep("B"))), {})
    >>> found.steps[0].quantifier.greedy, found.steps[0].quantifier.looping
    (True, True)
    """
    last = len(pattern.steps) - 1
    steps = tuple(
        _step(step, conditions.get(step.variable), pattern.within if place == last else None)
        for place, step in enumerate(pattern.steps)
    )
    throws = pattern.skips_to is not None
    return PatternDefinition(steps, AfterMatchSkipStrategy(_MODES[pattern.after], pattern.skips_to, throws))


def _step(step: PatternStep, condition: IterativeCondition | None, within: int | None) -> Step:
    bounds = step.least, step.most
    properties = {QuantifierProperty.SINGLE}
    times = None
    if step.most is None:
        least = max(step.least, 1)
        properties, times = {QuantifierProperty.LOOPING}, Times(least, least)
    elif bounds not in ((0, 1), (1, 1)):
        properties, times = {QuantifierProperty.TIMES}, Times(max(step.least, 1), step.most)
    if not step.least:
        properties.add(QuantifierProperty.OPTIONAL)
    if step.insists:
        properties.add(QuantifierProperty.GREEDY)
    inner = ConsumingStrategy.SKIP_TILL_NEXT if times is None else ConsumingStrategy.STRICT
    quantifier = Quantifier(ConsumingStrategy.STRICT, frozenset(properties), inner)
    return Step(step.variable, quantifier, condition, times=times, within=within)
