"""The rules, a file each: a rule turns a graph into one that says more, is pure, and knows no engine.

After all of them every node has its parallelism, max parallelism and slot sharing group; every edge says how it spreads
records and whether its ends are chained, every node whether it coerces; the graph says whether it runs in BATCH mode.
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
"""A pure function; raises ProgramError where the program is wrong."""

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
