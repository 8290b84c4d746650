"""The way of logical plans to the graph and to text: rules, physical plan, changelog modes, operators.

Several plans are planned together, so that equal parts of them, such as a table that two INSERTs read, run once.
"""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.graph import GraphBuilder, Location
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.changelog import with_changelog_modes
from firesteel.relational.physical.checking import check_operators
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.planning import Connections, Planner
from firesteel.relational.physical.sharing import with_shared_scans
from firesteel.relational.rules import optimized
from firesteel.relational.to_graph import GraphWriter


def physical_plans(
    plans: Sequence[LogicalNode], options: PlanOptions, connections: Connections
) -> list[PhysicalNode]:
    """Return how the plans run, with changelog modes.

    Raises ProgramError for what Flink refuses, UnsupportedError for what is not supported yet, ConfigurationError for
    options that a connector cannot take; each is a SqlError, too, if the part of the plan that it is about is written
    somewhere.
    """
    planner = Planner(options, connections)
    planned = with_shared_scans([planner.plan(optimized(plan, options)) for plan in plans])
    made = planned if options.batch else with_changelog_modes(planned, options.state_ttl)
    for plan in made:
        check_operators(plan)
    return made


def add_to_graph(
    plans: Sequence[LogicalNode],
    builder: GraphBuilder,
    options: PlanOptions,
    connections: Connections,
    location: Location,
) -> list[int]:
    """Add the operators of plans that end in sinks to a program, and return the ids of the sinks' nodes.

    Raises what `physical_plans` raises; nothing has been added then.
    """
    planned = physical_plans(plans, options, connections)
    writer = GraphWriter(builder, options, location)
    return [writer.write(plan) for plan in planned]
