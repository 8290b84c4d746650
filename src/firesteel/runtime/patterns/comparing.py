"""Comparators of events, with errors that say which two they were asked about."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from firesteel.common.errors import RecordError
from firesteel.runtime.failures import RAISED, summary, user_failure

Comparator = Callable[[Any, Any], Any]


def guarded(comparator: Comparator, who: str) -> Comparator:
    """Return a comparator that answers the same; `who` names the pattern in its errors.

    It raises UserFunctionError if the comparator raises, RecordError if the answer is no number.

    >>> guarded(lambda one, two: one - two, "pattern (job.py:1)")(3, 1)
    2
    """
    who = f"{who}: the comparator"

    def compare(one: Any, two: Any) -> Any:
        try:
            answer = comparator(one, two)
        except RAISED as error:
            taken = iter([(one, two)])
            next(taken)
            raise user_failure(error, who, [(one, two)], taken) from error
        if not isinstance(answer, Real):
            raise RecordError(
                "requires a number: below, equal to or above 0",
                who=who,
                got=f"{summary(answer)} for {summary((one, two))}",
                hint="return e.g. one.number - two.number",
            )
        return answer

    return compare
