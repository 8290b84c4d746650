"""The warning that a pattern's state may only grow."""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from firesteel.functions.patterns.definition import ConsumingStrategy, Step

__all__ = ["METHODS", "WORDS", "Remedies", "warn_of_growth"]

_log = logging.getLogger(__name__)


class Remedies(NamedTuple):
    """What to do about a step that may take events for good, in the language that the pattern is written in."""

    apart: str
    """Where other events may come between those that it takes."""

    at_start: str
    """Where its events follow each other directly, and it is the first."""


METHODS: Final = Remedies(
    "call within(...) on the pattern, or until(...) or consecutive() on the step",
    "call within(...) on the pattern, or until(...) or times(least, most) on the step",
)
WORDS: Final = Remedies(
    "write e.g. within 10 seconds after the steps, or until (...) or consecutive after the step",
    "write e.g. within 10 seconds after the steps, or until (...) or {1,100} after the step",
)


def warn_of_growth(steps: tuple[Step, ...], who: str, remedies: Remedies) -> None:
    """Warn of steps, of a pattern without a time, that may take events for good.

    A first step may do so also where its events follow each other directly: each of them begins a partial match, and
    all of these go on as long as events fit.
    """
    for place, step in enumerate(steps):
        _warn(step, who, remedies, first=not place)


def _warn(step: Step, who: str, remedies: Remedies, *, first: bool) -> None:
    quantifier = step.quantifier
    if quantifier.looping and step.until is None:
        name = "a group" if step.group is not None else f"the step {step.name!r}"
        if quantifier.inner is not ConsumingStrategy.STRICT:
            _log.warning(
                "%s: %s may take events without an end; its partial matches, and so the state of each key, only grow "
                "(%s)",
                who,
                name,
                remedies.apart,
            )
        elif first:
            _log.warning(
                "%s: %s begins the pattern and may take events without an end; as long as events fit, each begins one "
                "more partial match, and the state of the key grows (%s)",
                who,
                name,
                remedies.at_start,
            )
    for place, inner in enumerate(step.group or ()):
        _warn(inner, who, remedies, first=first and not place)
