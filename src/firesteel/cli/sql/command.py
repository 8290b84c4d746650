"""What `firesteel sql` does with its arguments."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from firesteel.cli.program import OUTPUT_CLOSED, report
from firesteel.cli.sql.client import Client
from firesteel.cli.sql.display import Display, QuitRequested
from firesteel.cli.sql.output import Format
from firesteel.cli.sql.remote import RemoteClient
from firesteel.cli.sql.shell import Shell
from firesteel.cli.sql_request import SqlRequest
from firesteel.common.errors import ConfigurationError, FiresteelError, OutputClosedError
from firesteel.common.signals import INTERRUPTED
from firesteel.control.running import stop_jobs, wait_for_jobs
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.rest.gateway.client import GatewayClient
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.table_environment import TableEnvironment

HISTORY: Final = Path.home() / ".firesteel_sql_history"
"""What was typed in earlier sessions."""


def run_sql(request: SqlRequest, surroundings: Ambient) -> int:
    """Execute what is asked for and return the exit code; errors are reported on standard error."""
    interactive = request.text is None and request.file is None
    with surrounded_by(replace(surroundings, state_dir=request.state_dir or surroundings.state_dir)):
        try:
            client = _client(request, surroundings, interactive)
        except FiresteelError as error:
            report(error)
            return 1
        try:
            return _run(client, request, interactive)
        except KeyboardInterrupt:
            return _ended(INTERRUPTED)
        except (OutputClosedError, BrokenPipeError):
            return _ended(OUTPUT_CLOSED)
        except FiresteelError as error:
            report(error)
            return _ended(1)
        finally:
            client.close()


def _client(request: SqlRequest, surroundings: Ambient, interactive: bool) -> Display:
    """Return what executes the statements: this process, or the gateway of an endpoint."""
    form, live = cast(Format, request.form), (interactive or request.live) and sys.stdout.isatty()
    if request.endpoint is None:
        mode = EnvironmentSettings.in_batch_mode if request.batch else EnvironmentSettings.in_streaming_mode
        environment = TableEnvironment.create(mode())
        return Client(environment, sys.stdout, form, interactive=interactive, live=live)
    elsewhere = (surroundings.master, request.state_dir, surroundings.restore_from)
    if any(value is not None for value in elsewhere):
        raise ConfigurationError(
            "takes neither a master, a state directory nor a savepoint: they are the cluster's",
            who="firesteel sql --endpoint",
        )
    options = dict(surroundings.configuration)
    if request.batch:
        options["execution.runtime-mode"] = "batch"
    if surroundings.parallelism is not None:
        options["parallelism.default"] = str(surroundings.parallelism)
    gateway = GatewayClient(request.endpoint, options, name="firesteel sql")
    return RemoteClient(gateway, sys.stdout, form, interactive=interactive, live=live)


def _run(client: Display, request: SqlRequest, interactive: bool) -> int:
    try:
        if request.init is not None:
            _run_file(client, request.init)
        client.echo = request.echo
        if request.file is not None:
            _run_file(client, request.file)
        if request.text is not None:
            client.run(request.text)
    except QuitRequested:
        interactive = False
    if interactive:
        Shell(client, HISTORY).run()
    wait_for_jobs()
    return 0


def _run_file(client: Display, path: Path) -> None:
    try:
        text = path.read_text()
    except OSError as error:
        raise ConfigurationError(
            "requires a file that can be read", who="firesteel sql", got=str(error)
        ) from None
    try:
        client.run(text, path.name)
    except FiresteelError as error:
        error.who = f"{path.name}: {error.who}" if error.who else path.name
        raise


def _ended(code: int) -> int:
    """Stop the jobs that are left running, which would keep the process alive."""
    try:
        stop_jobs()
    except FiresteelError as error:
        report(error)
    return code
