"""What is checked of a pattern when a stream is searched for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.compiler.lower.shipping import shipped
from firesteel.functions.patterns.conditions import IterativeCondition, function_of
from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.growth import METHODS, Remedies, warn_of_growth
from firesteel.runtime.patterns.compiling import compiled

__all__ = ["check_pattern"]


def check_pattern(
    definition: PatternDefinition,
    comparator: Callable[[Any, Any], int] | None,
    who: str,
    remedies: Remedies = METHODS,
) -> None:
    """Warn of a pattern whose state only grows; `remedies` are what to do about it.

    Raises ProgramError if the pattern means nothing, SerializationError if one of its functions cannot be sent to the
    workers; both say `who`.
    """
    try:
        automaton = compiled(definition)
    except ProgramError as error:
        error.who = error.who or who
        raise
    for step in definition.all_steps():
        for what, condition in (("condition", step.condition), ("until condition", step.until)):
            if condition is not None:
                shipped(condition, f"{who}: the {what} of {step.name!r}{_place(condition)}")
    if comparator is not None:
        shipped(comparator, f"{who}: the comparator")
    if automaton.within is None:
        warn_of_growth(definition.steps, who, remedies)


def _place(condition: IterativeCondition) -> str:
    """Return the line of a condition's function, as it follows its name in an error."""
    code = getattr(function_of(condition), "__code__", None)
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
