"""The arguments of `firesteel sql`, without what executes them: that needs packages which may be missing."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from firesteel.common.errors import ConfigurationError
from firesteel.datastream.ambient import Ambient


class OutputFormat(StrEnum):
    """How the rows of queries are written."""

    table = "table"
    csv = "csv"
    json = "json"


@dataclass(frozen=True)
class SqlRequest:
    """The arguments; `text` and `file` are what to execute instead of a shell.

    `endpoint` is the URL of a SQL gateway that executes them, in place of this process. `live` shows endless queries as
    tables that change in place, as a shell does; `echo` writes each statement first.
    """

    file: Path | None = None
    text: str | None = None
    init: Path | None = None
    form: str = "table"
    batch: bool = False
    live: bool = False
    echo: bool = False
    state_dir: str | None = None
    endpoint: str | None = None


def run_sql(request: SqlRequest, surroundings: Ambient) -> int:
    """Execute what is asked for and return the exit code.

    Raises ConfigurationError if the packages that SQL needs are not installed.
    """
    try:
        command = importlib.import_module("firesteel.cli.sql.command")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("firesteel"):
            raise
        raise ConfigurationError(
            "requires packages that are not installed",
            who="firesteel sql",
            got=f"no module {error.name}",
            hint="pip install 'firesteel[sql]'",
        ) from None
    code: int = command.run_sql(request, surroundings)
    return code
