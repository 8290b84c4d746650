"""The command line: only its arguments; the commands themselves are in the other modules of this package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from firesteel.cli.checkpoints import list_checkpoints
from firesteel.cli.cluster import cluster_app
from firesteel.cli.controlling import cancel_job, rescale_job, stop_job, take_savepoint
from firesteel.cli.examples import copy_example, list_examples
from firesteel.cli.explain import explain_program
from firesteel.cli.flamegraph import draw_flame_graph
from firesteel.cli.info import describe_installation, find_java
from firesteel.cli.job_options import (
    TEN_MINUTES,
    AllowNonRestored,
    Conf,
    Debug,
    Job,
    Json,
    LogForm,
    Master,
    Parallelism,
    PyFlink,
    RestoreFrom,
    Target,
    Timeout,
    Verbose,
)
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
from firesteel.cli.submitting import Submitted, submit
from firesteel.common.errors import FiresteelError
from firesteel.common.excepthook import DEBUG_VARIABLE, describe_failure
from firesteel.common.log_formats import LOG_FORMAT, process_form
from firesteel.control.views.flamegraphs import CpuKind as FlameKind
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
app.add_typer(cluster_app, name="cluster")


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
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Submit it to a cluster, and print the job's address.", show_default=False
        ),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A secret of the cluster that the job gets; repeatable."),
    ] = None,
    verbose: Verbose = False,
    log_format: LogForm = None,
    debug: Debug = False,
) -> None:
    """Run a program. Options given here override the program's own settings."""
    _prepare(debug)
    chosen = chosen_program(file, module, arguments, py_files)
    surroundings = Ambient(
        parallelism,
        master,
        state_dir,
        {**_configuration(conf, log_format), **python_options(chosen, requirements, archives, python)},
        restore_from=restore_from,
        allow_non_restored_state=allow_non_restored_state,
    )
    if cluster is not None:
        with reporting():
            submit(cluster, Submitted(chosen, surroundings, pyflink, requirements, tuple(secret or ())))
        return
    if secret:
        raise typer.BadParameter("is a cluster's: add --cluster", param_hint="--secret")
    with log_on_stderr(verbose, process_form(surroundings.configuration)):
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
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="Execute them at a SQL gateway, such as that of a cluster: http://localhost:8081.",
            show_default=False,
        ),
    ] = None,
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
    log_format: LogForm = None,
    debug: Debug = False,
) -> None:
    """Execute SQL, in a shell unless there is a file or a text."""
    _prepare(debug)
    surroundings = Ambient(
        parallelism,
        master,
        configuration=_configuration(conf, log_format),
        restore_from=restore_from,
        allow_non_restored_state=allow_non_restored_state,
    )
    request = SqlRequest(file, text, init, form.value, batch, live, echo, state_dir, endpoint)
    with log_on_stderr(verbose, process_form(surroundings.configuration)), reporting():
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
        str,
        typer.Argument(
            metavar="DIR",
            help="A path or a URL, e.g. s3://bucket/jobs; or a cluster: http://host:8081.",
            show_default=False,
        ),
    ],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the jobs of a cluster, or those whose state is in a directory or directly below it."""
    _prepare(debug)
    with reporting():
        list_jobs(directory, json)


@app.command()
def metrics(
    job: Job,
    json: Json = False,
    prometheus: Annotated[bool, typer.Option("--prometheus", help="As text that Prometheus reads.")] = False,
    debug: Debug = False,
) -> None:
    """Show the metrics of a job, its operators (over all subtasks, with the least and the greatest) and its workers."""
    _prepare(debug)
    with reporting():
        list_metrics(job, json, prometheus)


@app.command()
def flamegraph(
    job: Job,
    operator: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The operator, by name or id (default: all).", show_default=False),
    ] = None,
    kind: Annotated[
        FlameKind, typer.Option("--type", help="Samples with or without the processor.")
    ] = "full",
    seconds: Annotated[float, typer.Option(min=0.1, help="How long samples are taken.")] = 5.0,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The picture (default: JSON).", show_default=False)
    ] = None,
    debug: Debug = False,
) -> None:
    """Draw where the time of a running job's operators goes, from samples of their stacks."""
    _prepare(debug)
    with reporting():
        draw_flame_graph(job, operator, kind, seconds, svg)


@app.command()
def checkpoints(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB",
            help="A job's state directory, or a savepoint; or http://host:8081/jobs/ID.",
            show_default=False,
        ),
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
        typer.echo(stop_job(job, with_savepoint=savepoint, target=target, timeout=timeout, drain=drain))


@app.command()
def cancel(job: Job, timeout: Timeout = TEN_MINUTES, debug: Debug = False) -> None:
    """End a job at once and discard its running epoch."""
    _prepare(debug)
    with reporting():
        typer.echo(cancel_job(job, timeout))


@app.command()
def savepoint(job: Job, target: Target = None, timeout: Timeout = TEN_MINUTES, debug: Debug = False) -> None:
    """Take a savepoint of a job and print its location; a running job continues."""
    _prepare(debug)
    with reporting():
        typer.echo(take_savepoint(job, target, timeout))


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
        typer.echo(rescale_job(job, parallelism, timeout, keep=keep))


def _prepare(debug: bool) -> None:
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def _configuration(pairs: list[str] | None, log_format: str | None = None) -> dict[str, str]:
    own = {} if log_format is None else {LOG_FORMAT: log_format}
    try:
        return {**parse_configuration(pairs or []), **own}
    except FiresteelError as error:
        typer.echo(describe_failure(error), err=True)
        raise typer.Exit(2) from None


def main() -> None:
    """Run the command line; exit code 0 is success, 1 an error, 2 wrong usage, 130 Ctrl-C."""
    app()
