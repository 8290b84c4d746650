"""The way of logical plans to the graph and to text: rules, physical plan, changelog modes, operators.

Several plans are planned together, so that equal parts of them, such as a table that two INSERTs read, run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from firesteel.graph import GraphBuilder, Location
from firesteel.relational.estimates.plans import Estimator
from firesteel.relational.estimates.sizes import Estimate
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.changelog import with_changelog_modes
from firesteel.relational.physical.checking import check_operators
from firesteel.relational.physical.hash_joins import with_hash_joins
from firesteel.relational.physical.kept_exchanges import with_kept_exchanges
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.planning import Connections, Planner
from firesteel.relational.physical.runtime_filters import with_runtime_filters
from firesteel.relational.physical.sharing import with_shared_scans
from firesteel.relational.physical.single_subtasks import in_single_subtasks
from firesteel.relational.rules import optimized
from firesteel.relational.stored import StoredPlan
from firesteel.relational.to_graph import GraphWriter


def physical_plans(
    plans: Sequence[LogicalNode], options: PlanOptions, connections: Connections
) -> list[PhysicalNode]:
    """Return how the plans run, with changelog modes.

    Raises ProgramError for what Flink refuses, UnsupportedError for what is not supported yet, ConfigurationError for
    options that a connector cannot take; each is a SqlError, too, if the part of the plan that it is about is written
    somewhere.
    """
    planner, sized = Planner(options, connections), with_sizes(options, connections)
    planned = with_shared_scans([planner.plan(optimized(plan, sized)) for plan in plans])
    if options.batch:
        made = in_single_subtasks(planned, options.small) if options.small else planned
        made = with_runtime_filters(with_hash_joins(made, options.most_everywhere))
    else:
        made = with_changelog_modes(planned, options.state_ttl)
    for plan in made:
        check_operators(plan)
    return with_kept_exchanges(made)


def with_sizes(options: PlanOptions, connections: Connections) -> PlanOptions:
    """Return options that know the sizes of relations: those of what they are planned as, with all that is not read."""
    alone = replace(options, reorders_joins=False)

    def size(relation: LogicalNode) -> Estimate:
        return Estimator().of(Planner(alone, connections).plan(optimized(relation, alone)))

    return replace(options, sizes=size)


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
    return written(physical_plans(plans, options, connections), builder, options, location)


def written(
    plans: Sequence[PhysicalNode],
    builder: GraphBuilder,
    options: PlanOptions,
    location: Location,
    ids: Sequence[str] = (),
) -> list[int]:
    """Add the operators of physical plans that end in sinks to a program, and return the ids of the sinks' nodes.

    `ids` are the operator ids of a compiled plan.
    """
    writer = GraphWriter(builder, options, location, ids)
    return [writer.write(plan) for plan in plans]


def compiled(
    plans: Sequence[LogicalNode], builder: GraphBuilder, options: PlanOptions, connections: Connections
) -> StoredPlan:
    """Return what `add_to_graph` would run, as it is kept in a file; the operators that it adds are not to run.

    Raises what `physical_plans` raises.
    """
    physical = physical_plans(plans, options, connections)
    sinks = written(physical, builder, options, Location.of_caller())
    graph = builder.build(sinks)
    return StoredPlan(tuple(physical), tuple(graph.operator_ids.values()), options.batch)
