"""`EXPLAIN`: the query as it was understood, and the plans that come of it, in the sections that Flink has.

The last section is what runs: nodes that are computed once for several readers have a number there, and nodes with
state say what they keep.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from firesteel.common.errors import UnsupportedError
from firesteel.relational.estimates.costs import Costs
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.logical.printing import plan_text
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import advised_forest, execution_forest, forest
from firesteel.relational.physical.planning import Connections
from firesteel.relational.planning import physical_plans


def explained(
    plans: Sequence[LogicalNode],
    options: PlanOptions,
    connections: Connections,
    details: Collection[str] = (),
) -> str:
    """Return the text for the plans of a statement.

    `details` are ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN and PLAN_ADVICE; the execution plan is made of the
    graph, by who has one. Raises UnsupportedError for advice in BATCH mode, and what planning raises.
    """
    if options.batch and "PLAN_ADVICE" in details:
        raise UnsupportedError("is not supported under batch mode, as in Flink", who="EXPLAIN PLAN_ADVICE")
    physical = physical_plans(plans, options, connections)
    modes = "CHANGELOG_MODE" in details and not options.batch
    advised = "PLAN_ADVICE" in details
    costs = Costs().text if "ESTIMATED_COST" in details else lambda _: ""
    sections = {
        "Abstract Syntax Tree": "\n\n".join(map(plan_text, plans)),
        f"Optimized Physical Plan{' With Advice' * advised}": (advised_forest if advised else forest)(
            physical, modes=modes, more=costs
        ),
        "Optimized Execution Plan": execution_forest(physical),
    }
    return "\n\n".join(f"== {title} ==\n{text}" for title, text in sections.items()) + "\n"
