"""The rules, one file each. A rule is pure, turns a graph into one with more decided, and does not depend on an engine.

After all rules every node has its parallelism, max parallelism and slot sharing group, and whether it coerces. Every
edge has its distribution, and whether its ends are chained. The graph has its mode, BATCH or STREAMING.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firesteel.compiler.rules.fix_chaining import fix_chaining
from firesteel.compiler.rules.fix_coercion import fix_coercion
from firesteel.compiler.rules.fix_parallelism import fix_parallelism
from firesteel.compiler.rules.fix_partitioning import fix_partitioning
from firesteel.compiler.rules.fix_runtime_mode import fix_runtime_mode
from firesteel.compiler.rules.require_operators import require_operators
from firesteel.compiler.rules.share_slots import share_slots
from firesteel.compiler.rules.withhold_watermarks import withhold_watermarks
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph

Rule = Callable[[Graph, PlanSettings], Graph]
"""A pure function that raises ProgramError if the program is wrong."""

RULES: Final[tuple[Rule, ...]] = (
    require_operators,
    fix_runtime_mode,
    withhold_watermarks,
    fix_parallelism,
    fix_partitioning,
    share_slots,
    fix_chaining,
    fix_coercion,
)
"""All rules, in order."""

__all__ = ["RULES", "Rule"]
