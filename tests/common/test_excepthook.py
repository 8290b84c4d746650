"""What an uncaught error looks like."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from firesteel.common.errors import UserFunctionError
from firesteel.common.excepthook import describe_failure, install_excepthook

RunPython = Callable[..., CompletedProcess[str]]

PROGRAM = """
from firesteel.common.excepthook import install_excepthook
from firesteel.common.errors import ConfigurationError
install_excepthook()

def main():
    {statement}

main()
"""


@pytest.fixture
def fail(run_python: RunPython, tmp_path: Path) -> RunPython:
    """Runs a program with the statement, and returns how it ended."""

    def run(statement: str, **environment: str) -> CompletedProcess[str]:
        program = tmp_path / "job.py"
        program.write_text(PROGRAM.format(statement=statement))
        return run_python(program, **environment)

    return run


def test_a_firesteel_error_is_one_message(fail: RunPython) -> None:
    done = fail('raise ConfigurationError("unknown option", got="x", hint="see docs")')
    assert done.returncode == 1
    assert done.stderr == "error: unknown option; got x\n  hint: see docs\n"


def test_debug_shows_the_whole_traceback_and_the_details(fail: RunPython) -> None:
    done = fail('raise ConfigurationError("unknown option", details="the long story")', FIRESTEEL_DEBUG="1")
    assert "Traceback" in done.stderr
    assert "in main" in done.stderr
    assert "details:\nthe long story" in done.stderr


def test_another_error_is_the_traceback_of_the_users_code(fail: RunPython) -> None:
    done = fail("ConfigurationError.__str__(None)")
    assert done.returncode == 1
    assert 'job.py", line 7, in main' in done.stderr
    assert f"firesteel{os.sep}common" not in done.stderr
    assert done.stderr.endswith("raised inside Firesteel: FIRESTEEL_DEBUG=1 shows where\n")


def test_an_error_of_the_users_own_is_not_blamed_on_firesteel(fail: RunPython) -> None:
    done = fail("1 / 0")
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_the_users_frames_are_kept_in_causes_too() -> None:
    def user() -> None:
        try:
            int("x")
        except ValueError as error:
            raise RuntimeError("no number") from error

    with pytest.raises(RuntimeError) as caught:
        user()
    text = describe_failure(caught.value)
    assert text.count("in user") == 2
    assert "ValueError: invalid literal" in text


def test_an_error_without_a_frame_of_the_user_keeps_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuntimeError("inside")
    monkeypatch.setattr("firesteel.common.excepthook._is_engine", lambda _: True)
    try:
        raise error
    except RuntimeError:
        assert "test_excepthook.py" in describe_failure(error)


def test_a_user_function_error_shows_its_details_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    error = UserFunctionError("raised ZeroDivisionError", who="map 'f' (job.py:3)", details="line 3, in f")
    assert describe_failure(error) == "error: map 'f' (job.py:3) raised ZeroDivisionError"
    monkeypatch.setenv("FIRESTEEL_DEBUG", "1")
    assert describe_failure(error).endswith("details:\nline 3, in f")


def test_a_hook_of_somebody_else_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def hook(*_: object) -> None:
        traceback.print_exc()

    monkeypatch.setattr(sys, "excepthook", hook)
    install_excepthook()
    assert sys.excepthook is hook


def test_ctrl_c_is_one_line(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from firesteel.common.excepthook import install_excepthook\n"
        "install_excepthook()\n"
        "raise KeyboardInterrupt\n"
    )
    assert run_python(program).stderr == "interrupted: what was committed stays\n"
