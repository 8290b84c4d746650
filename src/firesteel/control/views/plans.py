"""The plan of a job that runs: its operators and what it was started with, as its driver wrote them down."""

from __future__ import annotations

from typing import Final

import msgspec

from firesteel.checkpoint.documents import as_document, read_document, write_document
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.compiler import Compiled
from firesteel.compiler.describe import JobDescription, OperatorDescription, describe
from firesteel.control.machine import RestartPolicy
from firesteel.control.settings import JobSettings
from firesteel.graph.operations.column_windows import MatchRecognizeOp
from firesteel.graph.operations.patterns import ManyPatternsOp, PatternOp
from firesteel.runtime.columns.matching.drawing import diagram_of_match
from firesteel.runtime.patterns.diagram import Diagram, diagram_of

FILE: Final = "plan.json"


class Vertex(msgspec.Struct, frozen=True):
    """A chain of operators, which Flink calls a job vertex; `id` is that of its first operator."""

    id: str
    name: str
    parallelism: int
    max_parallelism: int
    operators: tuple[OperatorDescription, ...]


class JobPlan(msgspec.Struct, frozen=True):
    """What a driver runs, since it was started: `description`, at `parallelism`.

    `mode` is STREAMING or BATCH. `epoch_ms` is the duration that an epoch aims at (milliseconds), `retained` how many
    epochs are kept, `restart` the restart strategy in Flink's words; `parameters` are the global job parameters.
    `patterns` are those that the program has, by the id of the operator that looks for them and the pattern's own,
    which is "" where an operator looks for one.
    """

    job_id: str
    description: JobDescription
    parallelism: int
    max_parallelism: int
    mode: str
    epoch_ms: int
    retained: int
    restart: str
    parameters: dict[str, str]
    patterns: dict[str, dict[str, Diagram]] = {}

    @classmethod
    def of(cls, compiled: Compiled, settings: JobSettings, job_id: str) -> JobPlan:
        """Describe a compiled job and its settings."""
        return cls(
            job_id=job_id,
            description=describe(compiled),
            parallelism=settings.parallelism,
            max_parallelism=compiled.plan.max_parallelism,
            mode="BATCH" if compiled.graph.batch else "STREAMING",
            epoch_ms=settings.epoch_ms,
            retained=settings.retained,
            restart=_in_words(settings.restart),
            parameters=dict(settings.job_parameters),
            patterns=_patterns(compiled),
        )

    def vertices(self) -> tuple[Vertex, ...]:
        """Return the chains, in topological order of their first operators."""
        chains: dict[int, list[OperatorDescription]] = {}
        for operator in self.description.operators:
            chains.setdefault(operator.chain, []).append(operator)
        return tuple(
            Vertex(
                id=members[0].id,
                name=" -> ".join(operator.title for operator in members),
                parallelism=members[0].parallelism,
                max_parallelism=members[0].max_parallelism,
                operators=tuple(members),
            )
            for members in chains.values()
        )


def _patterns(compiled: Compiled) -> dict[str, dict[str, Diagram]]:
    found: dict[str, dict[str, Diagram]] = {}
    for spec, node in zip(compiled.plan.operators, compiled.graph.nodes, strict=True):
        match node.operation:
            case PatternOp() as looks:
                found[spec.id] = {"": diagram_of(looks.definition)}
            case ManyPatternsOp() as looks:
                found[spec.id] = {id_: diagram_of(one.definition) for id_, one in looks.patterns.items()}
            case MatchRecognizeOp() as looks:
                found[spec.id] = {"": diagram_of_match(looks.match)}
    return found


def read_plan(storage: Storage) -> JobPlan | None:
    """Return the plan that the job's last driver wrote; None if there is none."""
    return read_document(storage, FILE, JobPlan, hint=None)


def write_plan(storage: Storage, plan: JobPlan) -> None:
    """Replace the plan that an earlier driver of the job wrote, if that is another one.

    A job that starts again on a full disk needs no room for it.
    """
    try:
        known = storage.get(FILE)
    except NotFound:
        known = b""
    if known != as_document(plan):
        write_document(storage, FILE, plan)


def _in_words(policy: RestartPolicy) -> str:
    if policy.attempts == 0:
        return "Restart deactivated."
    return f"Restart with fixed delay ({policy.delay_ms} ms). #{policy.attempts} restart attempts."
