"""The warning that a pattern's state may only grow."""

from __future__ import annotations

import logging
from typing import Final

from firesteel.functions.patterns.definition import ConsumingStrategy, Step

__all__ = ["warn_of_growth"]

_log = logging.getLogger(__name__)

_REMEDY: Final = "call within(...) on the pattern, or until(...) or consecutive() on the step"
_REMEDY_AT_START: Final = "call within(...) on the pattern, or until(...) or times(least, most) on the step"


def warn_of_growth(steps: tuple[Step, ...], who: str, remedy: str | None = None) -> None:
    """Warn of steps, of a pattern without a time, that may take events for good.

    A first step may do so also where its events follow each other directly: each of them begins a partial match, and
    all of these go on as long as events fit. `remedy` is what to do (default: which methods to call).
    """
    for place, step in enumerate(steps):
        _warn(step, who, remedy, first=not place)


def _warn(step: Step, who: str, remedy: str | None, *, first: bool) -> None:
    quantifier = step.quantifier
    if quantifier.looping and step.until is None:
        name = "a group" if step.group is not None else f"the step {step.name!r}"
        if quantifier.inner is not ConsumingStrategy.STRICT:
            _log.warning(
                "%s: %s may take events without an end; its partial matches, and so the state of each key, only grow "
                "(%s)",
                who,
                name,
                remedy or _REMEDY,
            )
        elif first:
            _log.warning(
                "%s: %s begins the pattern and may take events without an end; as long as events fit, each begins one "
                "more partial match, and the state of the key grows (%s)",
                who,
                name,
                remedy or _REMEDY_AT_START,
            )
    for place, inner in enumerate(step.group or ()):
        _warn(inner, who, remedy, first=first and not place)
