"""The description of a compiled job, from which every printed plan is made."""

from __future__ import annotations

from typing import Literal

import msgspec

from firesteel.compiler.compile import Compiled
from firesteel.compiler.rules.share_slots import DEFAULT
from firesteel.graph import Node
from firesteel.graph.nodes import Chaining, Edge, KeyBy
from firesteel.graph.operations import SinkOp, SourceOp
from firesteel.runtime.plan import EdgeSpec, Plan

Role = Literal["source", "operator", "sink"]


class InputDescription(msgspec.Struct, frozen=True):
    """An edge, from the view of the operator that reads it.

    `source` is the number of the operator that it comes from. `exchange` means that records move between tasks,
    `chained` that both ends are in one chain. An edge that is neither leads to another chain within the same tasks.
    """

    source: int
    port: int
    distribution: str
    exchange: bool
    chained: bool
    side_output: str | None = None
    key_type: str | None = None


class OperatorDescription(msgspec.Struct, frozen=True):
    """An operator; `number` counts from 1 in topological order, and its state is found by `id`.

    `level` and `chain` are the numbers of its level and its chain, `location` is the line of the program.
    `slot_sharing_group` is None for the default one.
    """

    number: int
    id: str
    name: str
    kind: str
    role: Role
    contents: str
    location: str
    parallelism: int
    max_parallelism: int
    level: int
    chain: int
    chaining: Chaining
    inputs: tuple[InputDescription, ...]
    uid: str | None = None
    output_type: str | None = None
    slot_sharing_group: str | None = None

    @property
    def title(self) -> str:
        """The name as Flink shows it: `Source: numbers`, `Sink: out`."""
        return _title(self.role, self.name)

    @property
    def before(self) -> int | None:
        """The number of the operator before it in its chain, None for the first."""
        return next((edge.source for edge in self.inputs if edge.chained), None)


class JobDescription(msgspec.Struct, frozen=True):
    """A job: its operators in topological order, and the number of tasks of each level."""

    name: str
    operators: tuple[OperatorDescription, ...]
    tasks: tuple[int, ...]


def describe(compiled: Compiled) -> JobDescription:
    """Describe the job of a compiled graph."""
    plan = compiled.plan
    chain = {index: number for number, members in enumerate(plan.chains, 1) for index in members}
    operators = tuple(
        _operator(plan, index, chain[index], node) for index, node in enumerate(compiled.graph.nodes)
    )
    return JobDescription(plan.job_name, operators, plan.levels)


def _operator(plan: Plan, index: int, chain: int, node: Node) -> OperatorDescription:
    spec = plan.operators[index]
    role = _role(node)
    group = node.slot_sharing_group
    return OperatorDescription(
        number=index + 1,
        id=spec.id,
        name=spec.name,
        kind=spec.kind,
        role=role,
        contents=node.description or _title(role, spec.name),
        location=str(node.location),
        parallelism=spec.parallelism,
        max_parallelism=spec.max_parallelism,
        level=spec.level,
        chain=chain,
        chaining=node.chaining,
        inputs=tuple(map(_input, plan.incoming(index), node.edges)),
        uid=node.uid,
        output_type=None if node.output_type is None else str(node.output_type),
        slot_sharing_group=None if group == DEFAULT else group,
    )


def _input(edge: EdgeSpec, drawn: Edge) -> InputDescription:
    key_type = drawn.partitioning.key_type if isinstance(drawn.partitioning, KeyBy) else None
    return InputDescription(
        source=edge.source + 1,
        port=edge.port,
        distribution=edge.distribution.value,
        exchange=not edge.local,
        chained=edge.chained,
        side_output=edge.side_output,
        key_type=None if key_type is None else str(key_type),
    )


def _role(node: Node) -> Role:
    if isinstance(node.operation, SourceOp):
        return "source"
    return "sink" if isinstance(node.operation, SinkOp) else "operator"


def _title(role: Role, name: str) -> str:
    return name if role == "operator" else f"{role.capitalize()}: {name}"
