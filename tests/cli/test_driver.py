"""The process that drives a job of a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.records import JobRecord, Outcome, Submission
from tests.spark.wheels import a_wheel

pytestmark = pytest.mark.long


def driven(directory: Path, **files: str) -> tuple[JobRecord, Outcome]:
    """Have a driver run main.py of these files; how it ended."""
    program = directory / "program"
    program.mkdir()
    for name, text in files.items():
        (program / name.replace("_", ".")).write_text(text)
    record = Dispatcher(directory, 1).submit(Submission(new_job_id(), "main.py", 1), program)
    with record.log.open("wb") as log:
        command = [sys.executable, "-m", "firesteel.cli.driver", str(record.directory)]
        subprocess.run(command, cwd=record.program, stdout=log, stderr=log, check=False)
    outcome = record.outcome()
    assert outcome is not None
    return record, outcome


def test_a_program_finds_the_packages_that_it_requires(tmp_path: Path) -> None:
    a_wheel(tmp_path / "wheels", "driver_requirement", "3.0")
    (wheel,) = (tmp_path / "wheels").iterdir()
    main = "import driver_requirement\nprint('found', driver_requirement.VERSION)\n"
    record, outcome = driven(tmp_path, main_py=main, requirements_txt=f"{wheel}\n")
    assert outcome.status == "FINISHED", outcome.error
    assert "found 3.0" in record.log.read_text()


def test_a_driver_whose_log_is_json_says_why_a_program_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTEEL_LOG_FORMAT", "json")
    record, outcome = driven(tmp_path, main_py="1 / 0\n")
    assert outcome.status == "FAILED"
    assert "ZeroDivisionError: division by zero" in (outcome.error or "")
    [line] = map(json.loads, record.log.read_text().splitlines())
    assert (line["level"], line["message"]) == ("ERROR", outcome.error)


def test_packages_that_cannot_be_installed_fail_the_job(tmp_path: Path) -> None:
    _, outcome = driven(tmp_path, main_py="print('ran')\n", requirements_txt=f"{tmp_path}/none.whl\n")
    assert outcome.status == "FAILED"
    assert "requires packages that can be installed" in (outcome.error or "")
