"""What conditions that sources get mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from firesteel.functions.columns.pushdowns import Condition, Junction, Like, NullTest


def holds(condition: Condition, row: Mapping[str, Any]) -> bool:
    """Return whether a condition is TRUE for a row, as Flink has it; none is negated: NULL is as good as FALSE."""
    if isinstance(condition, Junction):
        return (any if condition.any_of else all)(holds(part, row) for part in condition.parts)
    value = row[condition.column]
    if isinstance(condition, NullTest):
        return (value is None) != condition.negated
    if value is None:
        return False
    if isinstance(condition, Like):
        form = "".join({"%": ".*", "_": "."}.get(mark, re.escape(mark)) for mark in condition.pattern)
        return re.fullmatch(form, value, re.DOTALL) is not None
    other: Any = condition.value
    return {
        "=": value == other,
        "<>": value != other,
        "<": value < other,
        "<=": value <= other,
        ">": value > other,
        ">=": value >= other,
    }[condition.operator]
