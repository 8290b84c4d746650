"""What tests of commands to jobs share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from firesteel.cli.main import app
from firesteel.state.disk.copy import close_working_stores
from tests.cli import gated

Firesteel = Callable[..., Result]


@pytest.fixture
def firesteel() -> Firesteel:
    """Runs a command of `firesteel` in this process and returns how it ended: `exit_code`, `stdout`, `stderr`."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, list(map(str, arguments)))

    return run


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have jobs of a test keep their working copies in its directory."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    yield
    close_working_stores(tmp_path)


@pytest.fixture
def job(tmp_path: Path, machine: None) -> Iterator[gated.Running]:
    """A job that can be started; parallelism 2."""
    with gated.running(tmp_path / "job", parallelism=2) as running:
        yield running


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The job's program as a file; its arguments are the gate and the name of the ledger."""
    path = tmp_path / "gated_program.py"
    path.write_text(gated.PROGRAM)
    return path
