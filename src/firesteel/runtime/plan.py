"""The plan: the result of compiling a graph, which every task executes, epoch after epoch.

A plan is a linear chain of **levels**. Operators of one level run in the same tasks: task `p` of a level
runs subtask `p` of each. Edges within a level are direct calls (`local`); all others are exchanges into a
later level.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

from firesteel.common.identities import PartIdentity
from firesteel.common.metrics import Reading
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.source import Split
from firesteel.runtime.sampling import Sample, Sampling
from firesteel.runtime.usage import Usage, WorkerUsage
from firesteel.state.live.durable import RunRef
from firesteel.state.values.schemas import Schema

K = TypeVar("K", bound=Hashable)

_SEQ_BITS: Final = 40
"""A channel has fewer than 2**40 blocks in an epoch."""


class Distribution(enum.Enum):
    """The way in which an edge picks the target subtask of a record."""

    FORWARD = "FORWARD"
    REBALANCE = "REBALANCE"
    RESCALE = "RESCALE"
    SHUFFLE = "SHUFFLE"
    GLOBAL = "GLOBAL"
    BROADCAST = "BROADCAST"
    HASH = "HASH"
    CUSTOM = "CUSTOM"


@dataclass(frozen=True)
class EdgeSpec:
    """One edge from an operator's output (or side output) to an input port of another.

    A `local` edge is a direct call within a task. A `chained` one is local, and both its ends are in one chain in
    Flink's sense, where records are not serialised. `functions` are the cloudpickled `EdgeFunctions` (see
    `firesteel.runtime.routing`) of a HASH or CUSTOM edge; `max_parallelism` is the target's. Records of an edge that is
    `first` are delivered before the target's other inputs of the same epoch; such an edge is never local.
    """

    index: int
    source: int
    target: int
    port: int
    distribution: Distribution
    source_parallelism: int
    target_parallelism: int
    max_parallelism: int
    local: bool
    who: str
    side_output: str | None = None
    functions: bytes | None = None
    chained: bool = False
    first: bool = False

    @property
    def first_seq(self) -> int:
        """The number of the first block in a channel; a task's rows are sorted by these numbers.

        All blocks of edges that are `first` come before all others. Among them, those to later operators come first,
        because the output of earlier operators may reach the later ones in the same task.
        """
        return -(self.target + 1) << _SEQ_BITS if self.first else 0

    def targets_of(self, channel: int) -> list[int]:
        """Return the subtasks that upstream subtask `channel` can send to."""
        if self.distribution is Distribution.FORWARD:
            return [channel]
        if self.distribution is Distribution.GLOBAL:
            return [0]
        if self.distribution is Distribution.RESCALE:
            return _rescale_group(channel, self.source_parallelism, self.target_parallelism)
        return list(range(self.target_parallelism))

    def channels_of(self, target: int) -> list[int]:
        """Return the upstream subtasks that can send to `target`: those whose watermarks it waits for."""
        if self.local:
            return [target]
        if self.distribution not in _SOME_TARGETS:
            return list(range(self.source_parallelism))
        return [channel for channel in range(self.source_parallelism) if target in self.targets_of(channel)]


_SOME_TARGETS: Final = frozenset({Distribution.FORWARD, Distribution.GLOBAL, Distribution.RESCALE})
"""The distributions by which a channel does not reach every subtask."""


def _rescale_group(channel: int, sources: int, targets: int) -> list[int]:
    if targets <= sources:
        return [channel * targets // sources]
    return [target for target in range(targets) if target * sources // targets == channel]


@dataclass(frozen=True)
class OperatorSpec:
    """One operator of the plan; `factory` is a cloudpickled `OperatorFactory`, `output_type` a cloudpickled
    TypeInformation (None: values of any type).

    `keyed` operators get keyed state and timers, `stateful` ones at least a backend (broadcast state). `key_types` are
    the schemas of the declared types of its inputs' keys, each once (None: keys of any type). `identity` is that of a
    part of a query.
    """

    index: int
    id: str
    name: str
    who: str
    kind: str
    level: int
    parallelism: int
    max_parallelism: int
    factory: bytes
    output_type: bytes | None
    keyed: bool
    stateful: bool
    ports: int
    key_types: tuple[dict[str, Any] | None, ...] = ()
    identity: PartIdentity | None = None


@dataclass(frozen=True)
class Plan:
    """A compiled job. Frozen and picklable; two compilations of the same program give equal operator ids.

    `state_memory` is how many bytes of state a worker process keeps in memory (None: it depends on the available
    memory). `on_columns`: some of its operators work on columns. Sources send a marker every `latency_interval`
    (milliseconds; 0: never). `at_once`: all input is taken in one epoch, after which the job reads no state.
    """

    job_name: str
    max_parallelism: int
    operators: tuple[OperatorSpec, ...]
    edges: tuple[EdgeSpec, ...]
    job_parameters: dict[str, str] = field(default_factory=dict)
    watermark_interval: int = 200
    state_memory: int | None = None
    on_columns: bool = False
    latency_interval: int = 0
    at_once: bool = False

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Width (number of tasks) of each level."""
        depth = max(operator.level for operator in self.operators) + 1
        return tuple(
            max(operator.parallelism for operator in self.operators if operator.level == level)
            for level in range(depth)
        )

    @cached_property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """The operators by chain, by their indices, in topological order."""
        members: dict[int, list[int]] = {}
        head: dict[int, int] = {}
        for operator in self.operators:
            before = [edge.source for edge in self.incoming(operator.index) if edge.chained]
            head[operator.index] = head[before[0]] if before else operator.index
            members.setdefault(head[operator.index], []).append(operator.index)
        return tuple(map(tuple, members.values()))

    def at(self, level: int, subtask: int) -> list[OperatorSpec]:
        """Return the operators that this task runs a subtask of, in topological order."""
        return [
            operator
            for operator in self.operators
            if operator.level == level and subtask < operator.parallelism
        ]

    def outgoing(self, operator: int, side_output: str | None) -> list[EdgeSpec]:
        """Return the edges that leave one output of an operator."""
        return self._outgoing.get((operator, side_output), [])

    def incoming(self, operator: int) -> list[EdgeSpec]:
        """Return the edges that enter an operator."""
        return self._incoming.get(operator, [])

    def side_outputs(self, operator: int) -> list[str]:
        """Return the ids of the side outputs of an operator that have readers."""
        return self._side_outputs.get(operator, [])

    @cached_property
    def _outgoing(self) -> dict[tuple[int, str | None], list[EdgeSpec]]:
        return _grouped(self.edges, lambda edge: (edge.source, edge.side_output))

    @cached_property
    def _incoming(self) -> dict[int, list[EdgeSpec]]:
        return _grouped(self.edges, lambda edge: edge.target)

    @cached_property
    def _side_outputs(self) -> dict[int, list[str]]:
        tags: dict[int, set[str]] = {}
        for edge in self.edges:
            if edge.side_output:
                tags.setdefault(edge.source, set()).add(edge.side_output)
        return {operator: sorted(read) for operator, read in tags.items()}


def _grouped(edges: Iterable[EdgeSpec], key: Callable[[EdgeSpec], K]) -> dict[K, list[EdgeSpec]]:
    groups: dict[K, list[EdgeSpec]] = {}
    for edge in edges:
        groups.setdefault(key(edge), []).append(edge)
    return groups


@dataclass(frozen=True)
class SplitInput:
    """One split of a source as a subtask gets it in an epoch: read `[start, end)`; `start == end` reads nothing.

    `generator_state` is the state of the split's watermark generator at the last commit.
    """

    split: Split
    start: int
    end: int
    generator_state: Any = None


@dataclass(frozen=True)
class SplitReport:
    """How far a split was read in an epoch; `bytes` is the approximate size of its records, 0 if that is not known."""

    split_id: str
    position: int
    finished: bool
    generator_state: Any
    records: int
    bytes: int = 0


@dataclass(frozen=True)
class EpochPlan:
    """All that tasks know about one epoch, besides the plan.

    `driver` names the driver, and `run` counts its restarts of the job: operators kept in a worker from another driver
    or an earlier run are not used again. `committed` is the epoch the state is read at. `inherited` are the operator
    states of subtasks that no longer exist since the parallelism was lowered. Dictionaries are keyed by operator index,
    then subtask; `schemas` by operator index, then state. `arranged` has the runs of arrangements, `arrangements` the
    layouts of these, by their names. With `sampling` tasks report where their time went.
    """

    job_id: str
    facts: EpochFacts
    run: int
    committed: int
    driver: str = ""
    inputs: dict[int, dict[int, list[SplitInput]]] = field(default_factory=dict)
    watermarks: dict[int, list[int]] = field(default_factory=dict)
    operator_states: dict[int, dict[int, Any]] = field(default_factory=dict)
    inherited: dict[int, dict[int, list[Any]]] = field(default_factory=dict)
    schemas: dict[int, dict[str, Schema]] = field(default_factory=dict)
    runs: dict[int, dict[int, RunRef]] = field(default_factory=dict)
    arranged: dict[int, dict[int, dict[str, RunRef]]] = field(default_factory=dict)
    arrangements: dict[int, dict[str, bytes]] = field(default_factory=dict)
    sampling: Sampling | None = None


@dataclass
class SubtaskReport:
    """The report of one operator subtask at the end of an epoch.

    `arranged` are the runs of its arrangements, and `arrangements` the layouts of these (`encode_layout`), by the names
    of their states.
    `key_kinds` are the kinds of the keys whose state changed (see `KeyKinds`). `metrics` are the values of the
    operator's metrics in the epoch (see `MetricGroup.take`); `records_out` counts side outputs, too.
    """

    operator: int
    subtask: int
    watermark: int
    operator_state: Any = None
    committables: list[Any] = field(default_factory=list)
    splits: list[SplitReport] = field(default_factory=list)
    run: RunRef | None = None
    arranged: list[RunRef] = field(default_factory=list)
    arrangements: dict[str, bytes] = field(default_factory=dict)
    schemas: dict[str, Schema] | None = None
    key_kinds: list[str] | None = None
    next_wakeup: int | None = None
    idle_deadline: int | None = None
    records_in: int = 0
    records_out: int = 0
    metrics: dict[str, Reading] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    @property
    def runs(self) -> list[RunRef]:
        """All runs that it stored."""
        return [*filter(None, [self.run]), *self.arranged]


@dataclass(frozen=True)
class TaskReport:
    """The report of a task at the end of an epoch: those of its operator subtasks, and the bytes of the blocks that it
    received from exchanges and sent to them.

    It ran from `began` to `ended`, by the wall clock of its machine (milliseconds), in the process `worker`.
    """

    bytes: int
    subtasks: list[SubtaskReport]
    began: int = 0
    ended: int = 0
    worker: WorkerUsage | None = None
    samples: list[Sample] = field(default_factory=list)
