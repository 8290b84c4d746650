"""The warning that a pattern's state may only grow."""

from __future__ import annotations

import logging

from firesteel.functions.patterns.definition import ConsumingStrategy, Step

__all__ = ["warn_of_growth"]

_log = logging.getLogger(__name__)


def warn_of_growth(steps: tuple[Step, ...], who: str) -> None:
    """Warn of steps, of a pattern without a time, that may take events for good."""
    for step in steps:
        quantifier = step.quantifier
        if quantifier.looping and step.until is None and quantifier.inner is not ConsumingStrategy.STRICT:
            _log.warning(
                "%s: %s may take events without an end; its partial matches, and so the state of each key, only grow "
                "(call within(...) on the pattern, or until(...) or consecutive() on the step)",
                who,
                "a group" if step.group is not None else f"the step {step.name!r}",
            )
        warn_of_growth(step.group or (), who)
