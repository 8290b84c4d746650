"""ExplainDetail: what EXPLAIN shows besides the plan."""

from __future__ import annotations

from enum import Enum

__all__ = ["ExplainDetail"]


class ExplainDetail(Enum):
    """A detail of an explanation; the values are PyFlink's."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
