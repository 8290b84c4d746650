"""The writer of graphs.

Contract: `write` adds the operators of a plan, each equal part of the plans once, and returns the id of the last one.
Operators in the same place of the same plan have the same ids in every compilation (`firesteel.graph.uids`). Without an
exchange an operator has the parallelism of its input, as in Flink, so that the order of changes is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firesteel.common.errors import ProgramError
from firesteel.common.places import errors_at
from firesteel.graph import Edge, GraphBuilder, Location, Node
from firesteel.graph.nodes import Broadcast, KeyColumns, QueryPart
from firesteel.graph.operations import SourceOp
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.joins import AnyJoin
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Exchange, Union, WatermarkAssigner
from firesteel.relational.physical.process_tables import ProcessTable
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.sinks import Sink
from firesteel.relational.to_graph.aggregating import aggregated
from firesteel.relational.to_graph.operations import operation
from firesteel.relational.to_graph.process_tables import Placed, add_process_table
from firesteel.relational.to_graph.watermarks import scanned_by_split


@dataclass(frozen=True)
class _Output:
    """Where rows come from: an edge, and the parallelism of its node (None: that of the job)."""

    edge: Edge
    parallelism: int | None


class GraphWriter:
    """Adds plans to the graph of a program; `location` is the line of the program that asks for them.

    `ids` are the operator ids of a compiled plan, in the order of the operators.
    """

    def __init__(
        self, builder: GraphBuilder, options: PlanOptions, location: Location, ids: Sequence[str] = ()
    ) -> None:
        self._builder = builder
        self._options = options
        self._location = location
        self._ids = ids
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
        found = scanned_by_split(plan, self._options)
        if found is not None:
            yield self._node(plan, name=found.scan.short_name)
            return
        if (rows := aggregated(plan, self._options)) is not None:
            yield self._node(plan, self._outputs(rows))
            return
        if isinstance(plan, AnyJoin):
            yield self._node(plan, *map(self._outputs, plan.inputs))
            return
        if isinstance(plan, ProcessTable):
            yield self._process_table(plan)
            return
        below = [output for given in plan.inputs for output in self._outputs(given)]
        if _does_nothing(plan):
            yield from below
        elif isinstance(plan, Exchange):
            names = plan.row.field_names
            keys = KeyColumns(tuple(names[key] for key in plan.keys))
            for output in below:
                if plan.everywhere:
                    yield _Output(Edge(output.edge.source, Broadcast()), None)
                else:
                    yield _Output(Edge(output.edge.source, keys), None if plan.keys else 1)
        elif isinstance(plan, TableSourceScan) and plan.source is None:
            assert plan.table.origin is not None
            yield self._node(
                plan, [_Output(Edge(plan.table.origin), self._builder[plan.table.origin].parallelism)]
            )
        elif isinstance(plan, Sink):
            parallelism = plan.sink.parallelism
            yield self._node(plan, self._before_sink(plan, below), parallelism=parallelism)
        else:
            yield self._node(plan, *([below] if below else []))

    def _process_table(self, plan: ProcessTable) -> _Output:
        inputs = [self._outputs(part) for part in plan.parts]
        edges_of = [tuple(output.edge for output in outputs) for outputs in inputs]
        parallelisms = [_common([*outputs]) for outputs in inputs]
        called = (None if plan.tables[0].keys else 1) if plan.in_sets else parallelisms[0]

        def add(placed: Placed) -> int:
            self._count += 1
            return self._builder.add(
                Node(
                    id=0,
                    name=f"{placed.name}[{self._count}]",
                    operation=placed.operation,
                    inputs=(placed.edges,),
                    location=self._location,
                    parallelism=called if placed.table is None else parallelisms[placed.table],
                    uid=placed.uid,
                    query_part=QueryPart(plan.text),
                )
            )

        return _Output(Edge(add_process_table(plan, edges_of, self._options.zone, add)), called)

    def _before_sink(self, plan: Sink, below: list[_Output]) -> list[_Output]:
        """Return where the sink's rows come from: by the primary key, if they must change the subtask."""
        given = _common(below) or self._options.parallelism
        wanted = plan.sink.parallelism or given
        moves = wanted != given
        if plan.primary_key is None:
            if moves and not plan.input.mode.append_only:
                raise ProgramError(
                    f"requires a primary key for its parallelism of {wanted}, because the query gives updates",
                    who=plan.who,
                    got=f"none, and a query with {'that of the job' if given is None else given}",
                    hint="leave out 'sink.parallelism', or declare PRIMARY KEY (...) NOT ENFORCED",
                )
            return below
        shuffle = plan.options.shuffle
        if wanted == 1 or not (
            (plan.materializes and moves) or shuffle == "FORCE" or (shuffle == "AUTO" and moves)
        ):
            return below
        names = plan.row.field_names
        keys = KeyColumns(tuple(names[key] for key in plan.primary_key))
        return [_Output(Edge(output.edge.source, keys), output.parallelism) for output in below]

    def _node(
        self,
        plan: PhysicalNode,
        *ports: Sequence[_Output],
        name: str | None = None,
        parallelism: int | None = None,
    ) -> _Output:
        """Add an operator; `ports` are the outputs that it reads at each of its inputs."""
        self._count += 1
        parallelism = parallelism or _common([output for port in ports for output in port])
        made = operation(plan, self._options)
        if isinstance(made, SourceOp):
            read_by_one = isinstance(plan, TableSourceScan) and plan.single
            parallelism = 1 if read_by_one else made.source.preferred_parallelism
        number = self._builder.add(
            Node(
                id=0,
                name=f"{name or plan.short_name}[{self._count}]",
                operation=made,
                inputs=tuple(tuple(output.edge for output in port) for port in ports),
                location=self._location,
                parallelism=parallelism,
                description=f"[{self._count}]:{plan.text}",
                uid_hash=self._ids[self._count - 1] if self._ids else None,
                query_part=_part(plan, isinstance(made, SourceOp)),
            )
        )
        return _Output(Edge(number), parallelism)


def _does_nothing(plan: PhysicalNode) -> bool:
    """Return whether rows, and watermarks, pass a node as they are."""
    if isinstance(plan, WatermarkAssigner):
        return plan.of_source
    return isinstance(plan, Union) or (isinstance(plan, Exchange) and plan.kept)


def _common(outputs: list[_Output]) -> int | None:
    """Return the parallelism that all outputs have; None if they differ, or have that of the job."""
    parallelisms = {output.parallelism for output in outputs}
    return parallelisms.pop() if len(parallelisms) == 1 else None


def _part(plan: PhysicalNode, source: bool) -> QueryPart:
    """Return what an operator does; a source may make the watermark of its scan, too."""
    if isinstance(plan, Sink):
        return QueryPart(plan.text, plan.title)
    below = plan
    while source and below.inputs:
        (below,) = below.inputs
    if not isinstance(below, TableSourceScan):
        return QueryPart(plan.text)
    return QueryPart(plan.text, str(below.table.identifier), below.choice)
