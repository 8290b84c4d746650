"""`firesteel explain`: a program's jobs as they would run, without running them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import typer

from firesteel.cli.program import run_guarded
from firesteel.compiler import compile_graph
from firesteel.compiler.describe import describe_levels, levels_as_text
from firesteel.control.settings import JobSettings
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.graph import Graph
from firesteel.graph.explain import explain_json, explain_text


class _Explained(SystemExit):
    """Ends a program where it would have started its job."""


def explain_program(
    program: Path, arguments: Sequence[str], surroundings: Ambient, pyflink: bool, as_json: bool
) -> int:
    """Run a program up to its first job, print that job's graph and levels, and return the exit code.

    The program ends there: what follows would wait for results that no job gives.
    """

    def explain(graph: Graph, settings: JobSettings) -> NoReturn:
        describe = job_as_json if as_json else job_as_text
        typer.echo(describe(graph, settings))
        raise _Explained(0)

    try:
        with surrounded_by(replace(surroundings, launcher=explain)):
            code = run_guarded(program, arguments, pyflink)
    except _Explained:
        return 0
    if code == 0:
        typer.echo(f"error: {program} ended without starting a job; call env.execute()", err=True)
    return code or 1


def job_as_text(graph: Graph, settings: JobSettings) -> str:
    """Describe a job for people: its graph, then its levels."""
    plan = compile_graph(graph, settings).plan
    graph_lines = explain_text(graph, settings.parallelism)
    return f"job: {settings.job_name}\n\n{graph_lines}\n\n{levels_as_text(describe_levels(plan))}"


def job_as_json(graph: Graph, settings: JobSettings) -> str:
    """Describe a job for programs: Flink's execution plan (`nodes`) with `job` and `levels` added."""
    plan = compile_graph(graph, settings).plan
    described: dict[str, Any] = {"job": settings.job_name}
    described.update(json.loads(explain_json(graph, settings.parallelism)))
    described["levels"] = describe_levels(plan)
    return json.dumps(described, indent=2)
