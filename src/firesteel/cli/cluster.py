"""`firesteel cluster`: the server of a cluster, and its process."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from firesteel.cli.job_options import LogForm
from firesteel.cli.program import log_on_stderr, parse_configuration, reporting
from firesteel.common.errors import ConfigurationError, StateError
from firesteel.common.log_formats import LOG_FORMAT_VARIABLE, process_form
from firesteel.rest.history import History
from firesteel.rest.records import SERVER_LOCK, JobRecord, held, read
from firesteel.rest.session import SessionRecord

cluster_app = typer.Typer(
    name="cluster", help="Serve jobs: Flink's REST, and submission.", no_args_is_help=True
)

_STARTING_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.1
_GATEWAY: Final = "sql-gateway."
_SERVER_FILE: Final = "server.json"

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="Where the cluster keeps all it knows.", show_default=False)
]


class _ServerFile(msgspec.Struct, frozen=True):
    pid: int
    url: str
    started_at: int


@cluster_app.command()
def start(
    directory: Directory,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: a free one.")] = 8081,
    slots: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many subtasks may run at once (default: one for each core, at least 4).",
            show_default=False,
        ),
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="Spark's master, for all jobs.", show_default=False)
    ] = None,
    session: Annotated[
        bool, typer.Option("--session", help="Jobs share one Spark application; else each has its own.")
    ] = False,
    conf: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A setting of the session's Spark application, or of the SQL gateway; repeatable.",
        ),
    ] = None,
    history_days: Annotated[
        float, typer.Option(min=0, help="How long a job that has ended stays listed, with its state.")
    ] = 30.0,
    history_jobs: Annotated[int, typer.Option(min=0, help="At most so many of them.")] = 1000,
    tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Lines of ROLE TOKEN: viewer, operator, submitter.", show_default=False
        ),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="A secret that jobs may ask for: from the environment, or a file; repeatable.",
        ),
    ] = None,
    tls_certificate: Annotated[str | None, typer.Option(metavar="FILE", show_default=False)] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", show_default=False)] = None,
    tls_clients: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Only clients with a certificate of this CA.", show_default=False),
    ] = None,
    submission: Annotated[bool, typer.Option(help="Whether programs may be uploaded and run.")] = True,
    most_upload: Annotated[int, typer.Option(min=1, help="The largest upload, in megabytes.")] = 100,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A further name of this server; repeatable.")
    ] = None,
    flink_ui: Annotated[
        Path | None,
        typer.Option(
            metavar="JAR",
            help="Serve Flink's own web UI at /flink/, from a flink-runtime-web jar or its files.",
            show_default=False,
        ),
    ] = None,
    log_format: LogForm = None,
    foreground: Annotated[bool, typer.Option("--foreground", help="Serve in this process.")] = False,
) -> None:
    """Serve a directory; print the URL."""
    if log_format is not None:
        os.environ[LOG_FORMAT_VARIABLE] = log_format  # for the session and the jobs, too
    with reporting():
        serving = _service()
        of_gateway, of_session = _configurations(conf or (), session=session)
        settings = serving.ServerSettings(
            directory=directory,
            host=host,
            port=port,
            slots=slots,
            master=master,
            tokens=tokens.read_text() if tokens is not None else "",
            hosts=tuple(allow_host or ()),
            tls_certificate=tls_certificate,
            tls_key=tls_key,
            tls_clients=tls_clients,
            submission=submission,
            most_upload=most_upload << 20,
            secrets=_secrets(secret or ()),
            session=session,
            configuration=of_session,
            sql=serving.Limits.of(of_gateway),
            history=History(int(history_days * 86_400_000), history_jobs),
            flink_ui=flink_ui,
        )
        if foreground:
            with log_on_stderr(verbose=False, form=process_form({})):
                serving.serve(settings)
            return
        typer.echo(_started(directory))


def _service() -> Any:
    try:
        return importlib.import_module("firesteel.rest.serving")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("firesteel"):
            raise
        raise ConfigurationError(
            "requires packages that are not installed",
            who="firesteel cluster",
            got=f"no module {error.name}",
            hint="pip install 'firesteel[service]'",
        ) from None


def _secrets(names: Sequence[str]) -> dict[str, str]:
    """Return the secrets of `NAME` (the environment's) and `NAME=FILE`. Raises ConfigurationError for a missing one."""
    found = {}
    for said in names:
        name, equals, file = said.partition("=")
        value = Path(file).read_text().rstrip("\n") if equals else os.environ.get(name)
        if value is None:
            raise ConfigurationError("is not in the environment", who=f"--secret {name}")
        found[name] = value
    return found


def _configurations(pairs: Sequence[str], *, session: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Return the options of the SQL gateway, and those of the session."""
    given = parse_configuration(pairs)
    of_gateway = {key: value for key, value in given.items() if key.startswith(_GATEWAY)}
    of_session = {key: value for key, value in given.items() if key not in of_gateway}
    if of_session and not session:
        raise ConfigurationError(
            "is for a session",
            who="--conf",
            got="=".join(next(iter(of_session.items()))),
            hint="add --session; else each job has its own settings",
        )
    return of_gateway, of_session


def _started(directory: Path) -> str:
    """Start the same command as a process of its own, and return its URL once it serves."""
    if (running := _serving(directory)) is not None:
        raise ConfigurationError("is served already", who=f"the cluster in {directory}", got=running.url)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (directory / "server.log").open("ab") as log:
        before = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "firesteel.cli", *sys.argv[1:], "--foreground"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + _STARTING_SECONDS
    while time.monotonic() < deadline:
        found = read(directory / _SERVER_FILE, _ServerFile)
        if found is not None and found.pid == process.pid:
            return found.url
        if process.poll() is not None:
            break
        time.sleep(_LOOK_SECONDS)
    lines = (directory / "server.log").read_bytes()[before:].decode(errors="replace").splitlines()
    raise StateError("did not start", who="the server", got="\n".join(lines[-5:]) or "no word")


def _serving(directory: Path) -> _ServerFile | None:
    """Return the process that serves a directory, None if none does."""
    found = read(directory / _SERVER_FILE, _ServerFile)
    return found if found is not None and held(directory / SERVER_LOCK) else None


@cluster_app.command()
def status(directory: Directory) -> None:
    """Show the address and the process of the server of a directory; exit with 1 if none runs."""
    with reporting():
        found = _serving(directory)
        if found is None:
            typer.echo(f"nothing serves {directory}", err=True)
            raise typer.Exit(1)
        typer.echo(f"{found.url} (process {found.pid})")


@cluster_app.command()
def stop(
    directory: Directory,
    jobs: Annotated[
        bool, typer.Option(help="Stop the jobs, too; they go on when the cluster is started again.")
    ] = True,
) -> None:
    """Stop the server and its jobs, which go on from their last epochs when it is started again."""
    with reporting():
        found = _serving(directory)
        if found is not None:
            _end([(found.pid, directory / SERVER_LOCK)])
        if jobs:
            _end(_drivers(directory))
            shared = SessionRecord(directory / "session")
            process = shared.process()
            _end([(process.pid, shared.lock)] if process is not None and shared.open() else [])


def _drivers(directory: Path) -> list[tuple[int, Path]]:
    """Return the drivers that live, with their locks."""
    folder = directory / "jobs"
    records = [JobRecord(job) for job in folder.iterdir()] if folder.is_dir() else []
    drivers = [(record, record.driver()) for record in records]
    return [
        (driver.pid, record.lock)
        for record, driver in drivers
        if driver is not None and record.driver_lives()
    ]


def _end(processes: Iterable[tuple[int, Path]]) -> None:
    """End processes by SIGTERM, all at once, and wait until they have let go of their locks."""
    left = dict(processes)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STARTING_SECONDS
    while left := {pid: lock for pid, lock in left.items() if held(lock)}:
        if time.monotonic() > deadline:
            raise StateError("did not end in time", who=f"process {', '.join(map(str, left))}")
        time.sleep(_LOOK_SECONDS)
