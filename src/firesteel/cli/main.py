"""The command line: arguments, and nothing else; what the commands do is in the modules beside this one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from firesteel.cli.explain import explain_program
from firesteel.cli.info import describe_installation, find_java
from firesteel.cli.program import log_to_stderr, parse_configuration, run_job
from firesteel.common.errors import FiresteelError
from firesteel.common.excepthook import DEBUG_VARIABLE, describe_failure
from firesteel.datastream.ambient import Ambient

app = typer.Typer(
    name="firesteel",
    help="Apache Flink's programming model on Apache Spark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Program = Annotated[
    Path,
    typer.Argument(help="A Python file.", exists=True, dir_okay=False, readable=True, show_default=False),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        help="The program's own arguments; those that begin with a dash after --.", show_default=False
    ),
]
PyFlink = Annotated[bool, typer.Option("--pyflink", help="Let imports of pyflink find Firesteel.")]
Parallelism = Annotated[
    int | None,
    typer.Option("--parallelism", "-p", min=1, help="Subtasks of each operator.", show_default=False),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf", metavar="KEY=VALUE", help="An option of the job or, spark.*, of Spark; repeatable."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show whole tracebacks.")]


@app.command(
    epilog="Ctrl-C stops the job at the end of the running epoch; a second one throws that epoch away."
)
def run(
    program: Program,
    arguments: Arguments = None,
    pyflink: PyFlink = False,
    parallelism: Parallelism = None,
    master: Annotated[
        str | None,
        typer.Option(help="Spark's master: local[4], spark://host:7077, yarn, k8s://...", show_default=False),
    ] = None,
    state_dir: Annotated[
        str | None,
        typer.Option(
            help="Where state is kept (a path or URL); a job goes on from there.", show_default=False
        ),
    ] = None,
    conf: Conf = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what the engine does.")] = False,
    debug: Debug = False,
) -> None:
    """Run a program. What is given here counts more than what the program sets."""
    _prepare(debug)
    log_to_stderr(verbose)
    surroundings = Ambient(parallelism, master, state_dir, _configuration(conf))
    raise typer.Exit(run_job(program, arguments or [], surroundings, pyflink))


@app.command()
def explain(
    program: Program,
    arguments: Arguments = None,
    json: Annotated[bool, typer.Option("--json", help="For programs, not for people.")] = False,
    pyflink: PyFlink = False,
    parallelism: Parallelism = None,
    conf: Conf = None,
    debug: Debug = False,
) -> None:
    """Show a program's graph, chains and levels without running its jobs."""
    _prepare(debug)
    surroundings = Ambient(parallelism, configuration=_configuration(conf))
    raise typer.Exit(explain_program(program, arguments or [], surroundings, pyflink, json))


@app.command()
def info() -> None:
    """Show versions, and check that Java works."""
    java = find_java()
    for what, which in describe_installation(java):
        typer.echo(f"{what:<12} {which}")
    if java.problem is not None:
        typer.echo(f"error: Spark cannot start with this Java: {java.problem}", err=True)
        raise typer.Exit(1)


def _prepare(debug: bool) -> None:
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def _configuration(pairs: list[str] | None) -> dict[str, str]:
    try:
        return parse_configuration(pairs or [])
    except FiresteelError as error:
        typer.echo(describe_failure(error), err=True)
        raise typer.Exit(2) from None


def main() -> None:
    """Run the command line; exit code 0 is success, 1 an error, 2 wrong usage, 130 Ctrl-C."""
    app()
