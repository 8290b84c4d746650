"""What `firesteel sql` does with its arguments."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from firesteel.cli.program import OUTPUT_CLOSED, report
from firesteel.cli.sql.client import Client, QuitRequested
from firesteel.cli.sql.output import Format
from firesteel.cli.sql.shell import Shell
from firesteel.cli.sql_request import SqlRequest
from firesteel.common.errors import ConfigurationError, FiresteelError, OutputClosedError
from firesteel.common.signals import INTERRUPTED
from firesteel.control.running import stop_jobs, wait_for_jobs
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.table_environment import TableEnvironment

HISTORY: Final = Path.home() / ".firesteel_sql_history"
"""What was typed in earlier sessions."""


def run_sql(request: SqlRequest, surroundings: Ambient) -> int:
    """Execute what is asked for and return the exit code; errors are reported on standard error."""
    interactive = request.text is None and request.file is None
    mode = EnvironmentSettings.in_batch_mode if request.batch else EnvironmentSettings.in_streaming_mode
    with surrounded_by(replace(surroundings, state_dir=request.state_dir or surroundings.state_dir)):
        client = Client(
            TableEnvironment.create(mode()),
            sys.stdout,
            cast(Format, request.form),
            interactive=interactive,
            live=(interactive or request.live) and sys.stdout.isatty(),
        )
        try:
            return _run(client, request, interactive)
        except KeyboardInterrupt:
            return _ended(INTERRUPTED)
        except (OutputClosedError, BrokenPipeError):
            return _ended(OUTPUT_CLOSED)
        except FiresteelError as error:
            report(error)
            return _ended(1)


def _run(client: Client, request: SqlRequest, interactive: bool) -> int:
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


def _run_file(client: Client, path: Path) -> None:
    try:
        text = path.read_text()
    except OSError as error:
        raise ConfigurationError(
            "requires a file that can be read", who="firesteel sql", got=str(error)
        ) from None
    try:
        client.run(text)
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
