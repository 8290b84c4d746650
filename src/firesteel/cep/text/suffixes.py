"""What is said behind a step: how often it occurs, and within what time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

from firesteel.cep.pattern import Pattern
from firesteel.cep.text.faults import Faults
from firesteel.cep.text.nodes import Duration, Literal, Parameter, Single, Suffix
from firesteel.cep.text.translating import Parameters
from firesteel.common import time
from firesteel.functions.patterns.definition import WithinType

__all__ = ["Suffixes", "count_of", "duration_of", "in_order", "repeats"]

_REPEATS: Final = ("exactly", "between", "at_least", "one_or_more", "any_number")
_ORDER: Final = (
    *_REPEATS, "question_mark", "optional", "greedy", "consecutive", "combinations", "until", "later", "apart",
)  # fmt: skip


def repeats(single: Single) -> bool:
    """Return whether a step may occur several times."""
    return any(suffix.kind in _REPEATS for suffix in single.suffixes)


def in_order(suffixes: Iterable[Suffix]) -> list[Suffix]:
    """Return suffixes in the order in which the methods of a pattern must be called."""
    return sorted(suffixes, key=lambda suffix: _ORDER.index(suffix.kind))


def count_of(node: Literal | Parameter, parameters: Parameters, faults: Faults) -> int:
    """Return the number of a quantifier."""
    value = node.value if isinstance(node, Literal) else parameters.value(node)
    if type(value) is not int or value < 0:
        raise faults.at(node.span, "requires a whole number of at least 0", got=f"{value!r:.80}")
    return value


def duration_of(node: Duration, parameters: Parameters, faults: Faults) -> time.Duration:
    """Return the time that a text says, or that a parameter has."""
    millis: Any = node.millis
    if node.parameter is not None:
        value = parameters.value(node.parameter)
        if isinstance(value, time.Duration) and millis is None:
            return value
        if isinstance(value, timedelta) and millis is None:
            millis = value / timedelta(milliseconds=1)
        elif type(value) in (int, float) and millis is not None:
            millis = value * millis
        else:
            raise faults.at(
                node.span, "requires a Duration or a timedelta, or a number and a unit", got=f"{value!r:.80}"
            )
    if millis != int(millis):
        raise faults.at(node.span, "requires whole milliseconds", got=f"{millis} ms")
    return time.Duration.of_millis(int(millis))


class Suffixes:
    """Calls the methods of patterns; a text that they refuse raises their ProgramError."""

    def __init__(self, parameters: Parameters, faults: Faults) -> None:
        self._parameters = parameters
        self._faults = faults

    def add(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        """Say of a pattern's last step what the suffix says; the condition of `until` is not added."""
        kinds = [each.kind for each in single.suffixes]
        if kinds.count(suffix.kind) > 1:
            raise self._faults.at(suffix.span, "requires each word once for a step", got="a second one")
        if suffix.kind in _REPEATS or suffix.kind == "question_mark":
            others = [kind for kind in kinds if kind in (*_REPEATS, "question_mark")]
            if len(others) > 1:
                hint = "all numbers of events match, and greedy says that most do; write optional if none may"
                raise self._faults.at(suffix.span, "requires one quantifier", got="a second one", hint=hint)
        if suffix.kind != "until":
            getattr(self, f"_{suffix.kind}")(pattern, single, suffix)

    def _apart_of(self, single: Single) -> time.Duration | None:
        apart = next((each for each in single.suffixes if each.kind == "apart"), None)
        return None if apart is None else duration_of(apart.arguments[0], self._parameters, self._faults)

    def _exactly(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.times(count_of(suffix.arguments[0], self._parameters, self._faults), self._apart_of(single))

    def _between(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        least, most = (count_of(each, self._parameters, self._faults) for each in suffix.arguments)
        pattern.times(least, most, self._apart_of(single))

    def _at_least(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        least = count_of(suffix.arguments[0], self._parameters, self._faults)
        if least == 0:
            self._any_number(pattern, single, suffix)
        else:
            pattern.times_or_more(least, self._apart_of(single))

    def _one_or_more(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.one_or_more(self._apart_of(single))

    def _any_number(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.one_or_more(self._apart_of(single)).optional()

    def _question_mark(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.optional()

    def _optional(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.optional()

    def _greedy(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.greedy()

    def _consecutive(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.consecutive()

    def _combinations(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        pattern.allow_combinations()

    def _later(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        if single.link == "begin" or any(each.kind in _REPEATS for each in single.suffixes):
            raise self._faults.at(
                suffix.span,
                "requires a step with one event, and a step before it",
                hint="write apart for the time between the events of a step that occurs several times",
            )
        pattern.within(
            duration_of(suffix.arguments[0], self._parameters, self._faults), WithinType.PREVIOUS_AND_CURRENT
        )

    def _apart(self, pattern: Pattern, single: Single, suffix: Suffix) -> None:
        if not any(each.kind in _REPEATS for each in single.suffixes):
            raise self._faults.at(
                suffix.span,
                "requires a step that may occur several times",
                hint="write later for the time since the step before",
            )
