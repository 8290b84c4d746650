"""The description of a job as text for people, as Flink's execution plan, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from firesteel.compiler.describe import InputDescription, JobDescription, OperatorDescription, Role

_PACTS: Final[dict[Role, str]] = {"source": "Data Source", "operator": "Operator", "sink": "Data Sink"}
_MARKS: Final = {"head": "starts a chain", "never": "not chained"}


def as_text(job: JobDescription) -> str:
    """Return the job as text: its operators with the edges that they read, then its levels with their chains."""
    return "\n".join([f"job: {job.name}", "", *operator_lines(job), "", *_level_lines(job)])


def as_execution_plan(job: JobDescription) -> str:
    """Return the job as Flink's execution plan: a JSON object with the list `nodes`.

    Each node has `id`, `type`, `pact`, `contents`, `parallelism` and, unless it is a source, `predecessors`; sinks come
    last. It contains no `null`, so that PyFlink programs can read it with Python's `eval`. Source: Flink's
    JSONGenerator.
    """
    sinks_last = sorted(job.operators, key=lambda operator: operator.role == "sink")
    return json.dumps({"nodes": [_flink_node(operator) for operator in sinks_last]}, indent=2)


def as_json(job: JobDescription) -> str:
    """Return the job for programs: Flink's execution plan with more about each node, and with `job` and `levels`.

    A node also has `operator_id`, `uid` (if it has one), `location`, `level` and `chain`. A level is a dict of
    `level`, `tasks`, `chains` and `edges`. A chain is a list of operators, each a dict of `name`, `parallelism` and
    `after` (the place of its predecessor in the chain, None for the first). An edge leads from one chain to another:
    a dict of `from`, `to`, `level` (that of its target), `distribution`, `side_output` and `exchange` (False if the
    target runs in the same tasks).
    """
    described = {
        "job": job.name,
        "nodes": [_full_node(operator) for operator in job.operators],
        "levels": [_level(job, level) for level in range(len(job.tasks))],
    }
    return json.dumps(described, indent=2)


def operator_lines(job: JobDescription) -> list[str]:
    """Return a line per operator and, below it, one per edge that it reads.

    The line has the operator's number, name, parallelism, its other settings, and its line in the program.
    """
    lines = []
    for operator in job.operators:
        lines.append(_headline(operator))
        lines.extend(_edge_line(edge, operator) for edge in operator.inputs)
    return lines


def _headline(operator: OperatorDescription) -> str:
    marks = [f"parallelism {operator.parallelism}"]
    if operator.uid is not None:
        marks.append(f"uid {operator.uid!r}")
    if operator.chaining in _MARKS:
        marks.append(_MARKS[operator.chaining])
    if operator.slot_sharing_group is not None:
        marks.append(f"slot sharing group {operator.slot_sharing_group!r}")
    if operator.output_type is not None:
        marks.append(f"gives {operator.output_type}")
    return f"{operator.number}: {operator.title} [{', '.join(marks)}] {operator.location}"


def _edge_line(edge: InputDescription, operator: OperatorDescription) -> str:
    line = f"    <- {edge.source} {edge.distribution}"
    if edge.key_type is not None:
        line += f" by {edge.key_type}"
    if edge.side_output is not None:
        line += f" side output {edge.side_output!r}"
    ports = {other.port for other in operator.inputs}
    return line if len(ports) == 1 else f"{line} (input {edge.port + 1})"


def _flink_node(operator: OperatorDescription) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": operator.number,
        "type": operator.title,
        "pact": _PACTS[operator.role],
        "contents": operator.contents,
        "parallelism": operator.parallelism,
    }
    if operator.role != "source":
        # Flink's own generator gives every input the side "second".
        described["predecessors"] = [
            {"id": edge.source, "ship_strategy": edge.distribution, "side": "second"}
            for edge in operator.inputs
        ]
    return described


def _full_node(operator: OperatorDescription) -> dict[str, Any]:
    described = _flink_node(operator)
    for shown, edge in zip(described.get("predecessors", ()), operator.inputs, strict=True):
        shown["port"] = edge.port
        if edge.side_output is not None:
            shown["side_output"] = edge.side_output
    described["operator_id"] = operator.id
    if operator.uid is not None:
        described["uid"] = operator.uid
    return {**described, "location": operator.location, "level": operator.level, "chain": operator.chain}


def _level_lines(job: JobDescription) -> Iterator[str]:
    for level, tasks in enumerate(job.tasks):
        yield f"level {level} ({tasks} {'task' if tasks == 1 else 'tasks'})"
        for number, chain in enumerate(_chains(job, level), 1):
            yield f"    chain {number}: {_tree(chain, chain[0])}"
        for edge, source, target in _leaving(job, level):
            side = f" (side output {edge.side_output!r})" if edge.side_output else ""
            kind = "exchange" if edge.exchange else "direct"
            yield (
                f"    {kind}: {source.name}{side} => {target.name} in level {target.level}, {edge.distribution}"
            )


def _level(job: JobDescription, level: int) -> dict[str, Any]:
    return {
        "level": level,
        "tasks": job.tasks[level],
        "chains": [_chain(chain) for chain in _chains(job, level)],
        "edges": [
            {
                "from": source.name,
                "to": target.name,
                "level": target.level,
                "distribution": edge.distribution,
                "side_output": edge.side_output,
                "exchange": edge.exchange,
            }
            for edge, source, target in _leaving(job, level)
        ],
    }


def _chain(chain: list[OperatorDescription]) -> list[dict[str, Any]]:
    place = {operator.number: place for place, operator in enumerate(chain)}
    return [
        {
            "name": operator.name,
            "parallelism": operator.parallelism,
            "after": None if operator.before is None else place[operator.before],
        }
        for operator in chain
    ]


def _chains(job: JobDescription, level: int) -> list[list[OperatorDescription]]:
    chains: dict[int, list[OperatorDescription]] = {}
    for operator in job.operators:
        if operator.level == level:
            chains.setdefault(operator.chain, []).append(operator)
    return list(chains.values())


def _leaving(
    job: JobDescription, level: int
) -> Iterator[tuple[InputDescription, OperatorDescription, OperatorDescription]]:
    """Return the edges that leave the chains of a level, each with the operators at its ends."""
    for target in job.operators:
        for edge in target.inputs:
            source = job.operators[edge.source - 1]
            if source.level == level and not edge.chained:
                yield edge, source, target


def _tree(chain: list[OperatorDescription], operator: OperatorDescription) -> str:
    """Return the chain from an operator: `a -> b`, or `a -> (b, c -> d)` if it branches (Flink's notation)."""
    following = [_tree(chain, other) for other in chain if other.before == operator.number]
    if not following:
        return operator.name
    branches = following[0] if len(following) == 1 else f"({', '.join(following)})"
    return f"{operator.name} -> {branches}"
