"""The command line: only its arguments; the commands themselves are in the other modules of this package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from firesteel.cli.checkpoints import list_checkpoints
from firesteel.cli.examples import copy_example, list_examples
from firesteel.cli.explain import explain_program
from firesteel.cli.info import describe_installation, find_java
from firesteel.cli.jobs import list_jobs
from firesteel.cli.metrics import list_metrics
from firesteel.cli.options import (
    Archives,
    Arguments,
    File,
    Module,
    PyFiles,
    Python,
    Requirements,
    chosen_program,
    python_options,
)
from firesteel.cli.program import log_on_stderr, parse_configuration, reporting, run_job
from firesteel.cli.sql_request import OutputFormat, SqlRequest, run_sql
from firesteel.cli.state import state_app
from firesteel.common.errors import FiresteelError
from firesteel.common.excepthook import DEBUG_VARIABLE, describe_failure
from firesteel.control import asking
from firesteel.datastream.ambient import Ambient
from firesteel.spark.class_archive import make_archive

app = typer.Typer(
    name="firesteel",
    help="Apache Flink's programming model on Apache Spark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(state_app, name="state")

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
Master = Annotated[
    str | None,
    typer.Option(help="Spark's master: local[4], spark://host:7077, yarn, k8s://...", show_default=False),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log what the engine does.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show whole tracebacks.")]
Json = Annotated[bool, typer.Option("--json", help="For programs, not for people.")]
RestoreFrom = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="DIR|latest|EPOCH",
        help="Start from a savepoint, from another job's state, from the job's last epoch (there must be one), "
        "or again from a kept epoch.",
        show_default=False,
    ),
]
AllowNonRestored = Annotated[
    bool,
    typer.Option(
        "--allow-non-restored-state", help="Leave out state that no operator of the program claims."
    ),
]
Job = Annotated[
    str,
    typer.Argument(metavar="JOB", help="The job's state directory, a path or a URL.", show_default=False),
]
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="DIR",
        help="Where the savepoint goes: into a new directory below this one (default: the job's own place for them).",
        show_default=False,
    ),
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0, metavar="SECONDS", help="How long the answer is waited for.")
]
TEN_MINUTES = 600.0


@app.command(
    epilog="Ctrl-C stops the job at the end of the running epoch; a second one throws that epoch away."
)
def run(
    file: File = None,
    arguments: Arguments = None,
    module: Module = None,
    pyflink: PyFlink = False,
    parallelism: Parallelism = None,
    master: Master = None,
    state_dir: Annotated[
        str | None,
        typer.Option(
            help="Where state is kept (a path or URL); a job resumes from there.", show_default=False
        ),
    ] = None,
    restore_from: RestoreFrom = None,
    allow_non_restored_state: AllowNonRestored = False,
    py_files: PyFiles = None,
    requirements: Requirements = None,
    archives: Archives = None,
    python: Python = None,
    conf: Conf = None,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Run a program. Options given here override the program's own settings."""
    _prepare(debug)
    chosen = chosen_program(file, module, arguments, py_files)
    surroundings = Ambient(
        parallelism,
        master,
        state_dir,
        {**_configuration(conf), **python_options(chosen, requirements, archives, python)},
        restore_from=restore_from,
        allow_non_restored_state=allow_non_restored_state,
    )
    with log_on_stderr(verbose):
        raise typer.Exit(run_job(chosen, surroundings, pyflink))


@app.command()
def explain(
    file: File = None,
    arguments: Arguments = None,
    module: Module = None,
    py_files: PyFiles = None,
    json: Json = False,
    pyflink: PyFlink = False,
    parallelism: Parallelism = None,
    conf: Conf = None,
    debug: Debug = False,
) -> None:
    """Show a program's graph, chains and levels without running its jobs."""
    _prepare(debug)
    surroundings = Ambient(parallelism, configuration=_configuration(conf))
    chosen = chosen_program(file, module, arguments, py_files)
    raise typer.Exit(explain_program(chosen, surroundings, pyflink, json))


@app.command()
def sql(
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Execute the statements of a file.", show_default=False),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--execute", "-e", help="Execute these statements.", show_default=False)
    ] = None,
    init: Annotated[
        Path | None,
        typer.Option("--init", "-i", help="Execute the statements of a file first.", show_default=False),
    ] = None,
    form: Annotated[
        OutputFormat, typer.Option("--format", help="How the rows of queries are written.")
    ] = OutputFormat.table,
    batch: Annotated[bool, typer.Option("--batch", help="Begin in BATCH mode.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Show endless queries as tables that change, as the shell does.")
    ] = False,
    echo: Annotated[bool, typer.Option("--echo", help="Write each statement before its answer.")] = False,
    parallelism: Parallelism = None,
    master: Master = None,
    state_dir: Annotated[
        str | None,
        typer.Option(
            help="Where the state of the jobs of INSERTs is kept, each in a directory of its own; they resume from "
            "there.",
            show_default=False,
        ),
    ] = None,
    restore_from: RestoreFrom = None,
    allow_non_restored_state: AllowNonRestored = False,
    conf: Conf = None,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Execute SQL, in a shell unless there is a file or a text."""
    _prepare(debug)
    surroundings = Ambient(
        parallelism,
        master,
        configuration=_configuration(conf),
        restore_from=restore_from,
        allow_non_restored_state=allow_non_restored_state,
    )
    request = SqlRequest(file, text, init, form.value, batch, live, echo, state_dir)
    with log_on_stderr(verbose), reporting():
        raise typer.Exit(run_sql(request, surroundings))


@app.command()
def info() -> None:
    """Show versions, and check that Java works."""
    java = find_java()
    for what, which in describe_installation(java):
        typer.echo(f"{what:<12} {which}")
    if java.problem is not None:
        typer.echo(f"error: Spark cannot start with this Java: {java.problem}", err=True)
        raise typer.Exit(1)


@app.command()
def examples(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The one to copy.", show_default=False)
    ] = None,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Where it is copied to.")] = ".",
    debug: Debug = False,
) -> None:
    """List small programs, one idea each, or copy one."""
    _prepare(debug)
    with reporting():
        if name is None:
            list_examples()
        else:
            copy_example(name, Path(directory))


@app.command()
def prepare(debug: Debug = False) -> None:
    """Make Spark start in half the time on this machine: archive the Java classes it loads (150 MB, once)."""
    _prepare(debug)
    with reporting():
        typer.echo(make_archive())


@app.command()
def jobs(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="A path or a URL, e.g. s3://bucket/jobs.", show_default=False)
    ],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the jobs whose state is in a directory or directly below it."""
    _prepare(debug)
    with reporting():
        list_jobs(directory, json)


@app.command()
def metrics(job: Job, json: Json = False, debug: Debug = False) -> None:
    """Show the metrics of a job's operators: each over all subtasks, with the least and the greatest value."""
    _prepare(debug)
    with reporting():
        list_metrics(job, json)


@app.command()
def checkpoints(
    job: Annotated[
        str,
        typer.Argument(metavar="JOB", help="A job's state directory, or a savepoint.", show_default=False),
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all that each epoch needs; exit with 1 if any is damaged.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the epochs that a job can be started from."""
    _prepare(debug)
    with reporting():
        if not list_checkpoints(job, as_json=json, verify=verify):
            raise typer.Exit(1)


@app.command()
def stop(
    job: Job,
    target: Target = None,
    savepoint: Annotated[bool, typer.Option("--savepoint", help="End with a savepoint.")] = False,
    drain: Annotated[
        bool,
        typer.Option("--drain", help="Fire all windows and timers first; the job is then finished for good."),
    ] = False,
    timeout: Timeout = TEN_MINUTES,
    debug: Debug = False,
) -> None:
    """End a job after its running epoch; with --savepoint, print where the savepoint is."""
    if target is not None and not savepoint:
        raise typer.BadParameter("is for a savepoint: add --savepoint", param_hint="DIR")
    _prepare(debug)
    with reporting():
        directory = asking.open_job(job)
        typer.echo(
            asking.stop(directory, with_savepoint=savepoint, target=target, timeout=timeout, drain=drain)
        )


@app.command()
def cancel(job: Job, timeout: Timeout = TEN_MINUTES, debug: Debug = False) -> None:
    """End a job at once and discard its running epoch."""
    _prepare(debug)
    with reporting():
        typer.echo(asking.ask(asking.open_job(job), "cancel", None, timeout))


@app.command()
def savepoint(job: Job, target: Target = None, timeout: Timeout = TEN_MINUTES, debug: Debug = False) -> None:
    """Take a savepoint of a job and print its location; a running job continues."""
    _prepare(debug)
    with reporting():
        typer.echo(asking.savepoint(asking.open_job(job), target, timeout))


@app.command()
def rescale(
    job: Job,
    parallelism: Annotated[int, typer.Argument(metavar="N", help="Subtasks of each operator.", min=1)],
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="After a restart, too, unless it is started with another parallelism than before."
        ),
    ] = False,
    timeout: Timeout = TEN_MINUTES,
    debug: Debug = False,
) -> None:
    """Change the parallelism of a running job, between two epochs."""
    _prepare(debug)
    with reporting():
        typer.echo(asking.ask(asking.open_job(job), "rescale", str(parallelism), timeout, keep=keep))


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
