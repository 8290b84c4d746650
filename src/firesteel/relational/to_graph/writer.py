"""The writer of graphs.

Contract: `write` adds the operators of a plan, each equal part of the plans once, and returns the id of the last one.
Operators in the same place of the same plan have the same ids in every compilation (`firesteel.graph.uids`). Without an
exchange an operator has the parallelism of its input, as in Flink, so that the order of changes is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.common.places import errors_at
from firesteel.graph import Edge, GraphBuilder, Location, Node
from firesteel.graph.nodes import KeyColumns
from firesteel.graph.operations import SourceOp
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Exchange, TableSourceScan, Union
from firesteel.relational.to_graph.operations import operation
from firesteel.relational.to_graph.watermarks import scanned_by_split


@dataclass(frozen=True)
class _Output:
    """Where rows come from: an edge, and the parallelism of its node (None: that of the job)."""

    edge: Edge
    parallelism: int | None


class GraphWriter:
    """Adds plans to the graph of a program; `location` is the line of the program that asks for them."""

    def __init__(self, builder: GraphBuilder, options: PlanOptions, location: Location) -> None:
        self._builder = builder
        self._options = options
        self._location = location
        self._written: list[tuple[PhysicalNode, tuple[_Output, ...]]] = []
        self._count = 0

    def write(self, plan: PhysicalNode) -> int:
        """Add the plan's operators; `plan` is no union and no exchange. Return the id of its last node."""
        (output,) = self._outputs(plan)
        return output.edge.source

    def _outputs(self, plan: PhysicalNode) -> tuple[_Output, ...]:
        for known, outputs in self._written:
            if known is plan or known == plan:
                return outputs
        with errors_at(plan.place):
            outputs = tuple(self._made(plan))
        self._written.append((plan, outputs))
        return outputs

    def _made(self, plan: PhysicalNode) -> Iterator[_Output]:
        scan = scanned_by_split(plan, self._options)
        if scan is not None:
            yield self._node(plan, [], name=scan.name)
            return
        below = [output for given in plan.inputs for output in self._outputs(given)]
        if isinstance(plan, Union):
            yield from below
        elif isinstance(plan, Exchange):
            names = plan.row.field_names
            keys = KeyColumns(tuple(names[key] for key in plan.keys))
            for output in below:
                yield _Output(Edge(output.edge.source, keys), None if plan.keys else 1)
        elif isinstance(plan, TableSourceScan) and plan.source is None:
            assert plan.table.origin is not None
            yield self._node(
                plan, [_Output(Edge(plan.table.origin), self._builder[plan.table.origin].parallelism)]
            )
        else:
            yield self._node(plan, below)

    def _node(self, plan: PhysicalNode, below: list[_Output], name: str | None = None) -> _Output:
        self._count += 1
        parallelisms = {output.parallelism for output in below}
        parallelism = parallelisms.pop() if len(parallelisms) == 1 else None
        made = operation(plan, self._options)
        if isinstance(made, SourceOp):
            parallelism = made.source.preferred_parallelism
        number = self._builder.add(
            Node(
                id=0,
                name=f"{name or plan.name}[{self._count}]",
                operation=made,
                inputs=(tuple(output.edge for output in below),) if below else (),
                location=self._location,
                parallelism=parallelism,
                description=f"[{self._count}]:{plan.text}",
            )
        )
        return _Output(Edge(number), parallelism)
