"""`firesteel explain`: a program's jobs as they would run, without running them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import typer

from firesteel.cli.program import Program, run_guarded
from firesteel.compiler import compile_graph, plan_formats
from firesteel.compiler.describe import describe
from firesteel.control.settings import JobSettings
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.graph import Graph


class _Explained(SystemExit):
    """Ends a program at the point where it would start its job."""


def explain_program(program: Program, surroundings: Ambient, pyflink: bool, as_json: bool) -> int:
    """Run a program up to its first job, print that job's graph and levels, and return the exit code.

    The program ends there: the rest would wait for results that no job returns.
    """

    def explain(graph: Graph, settings: JobSettings) -> None:
        job = describe(compile_graph(graph, settings))
        typer.echo(plan_formats.as_json(job) if as_json else plan_formats.as_text(job))

    return run_up_to_job(program, surroundings, pyflink, explain)


def run_up_to_job(
    program: Program, surroundings: Ambient, pyflink: bool, look: Callable[[Graph, JobSettings], None]
) -> int:
    """Run a program until it starts a job, look at that instead, end the program, and return the exit code."""

    def launch(graph: Graph, settings: JobSettings) -> NoReturn:
        look(graph, settings)
        raise _Explained(0)

    try:
        with surrounded_by(replace(surroundings, launcher=launch)):
            code = run_guarded(program, pyflink)
    except _Explained:
        return 0
    if code == 0:
        typer.echo(f"error: {program} ended without starting a job; call env.execute()", err=True)
    return code or 1
