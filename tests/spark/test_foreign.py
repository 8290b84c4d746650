"""A Spark session that somebody else has opened: which Python its workers run is said before the first epoch."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import pytest

from firesteel.common.errors import ConfigurationError
from firesteel.spark.foreign import check_workers_python, probe

RunPython = Callable[..., CompletedProcess[str]]

NOTEBOOK = """
import os, sys
os.environ.pop("PYSPARK_PYTHON", None)
from pyspark.sql import SparkSession
SparkSession.builder.master("local[1,4]").config("spark.ui.enabled", "false").getOrCreate()

from firesteel.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1]).print()
env.execute()
"""


def session_with(python: Path | str) -> SimpleNamespace:
    return SimpleNamespace(sparkContext=SimpleNamespace(pythonExec=str(python)))


def a_python(directory: Path, *, version: str, missing: str = "[]", prefix: str = "/elsewhere") -> Path:
    """Make a program that answers as an interpreter would."""
    path = directory / "their-python"
    path.write_text(f"""#!/bin/sh\necho '["{path}", "{version}", "{prefix}", {missing}]'\n""")
    path.chmod(0o755)
    return path


OURS = ".".join(map(str, sys.version_info[:3]))


def test_the_drivers_own_python_is_what_it_says() -> None:
    assert probe(sys.executable) == (sys.executable, OURS, sys.prefix, [])
    check_workers_python(session_with(sys.executable))


def test_another_minor_version_is_refused_with_both_paths_and_the_setting(tmp_path: Path) -> None:
    theirs = a_python(tmp_path, version="3.9.1")
    with pytest.raises(ConfigurationError) as caught:
        check_workers_python(session_with(theirs))
    for part in (str(theirs), "3.9.1", sys.executable, OURS, "PYSPARK_PYTHON", "spark.pyspark.python"):
        assert part in str(caught.value)


def test_a_python_without_firesteel_is_refused(tmp_path: Path) -> None:
    theirs = a_python(tmp_path, version=OURS, missing='["firesteel", "lmdb"]')
    with pytest.raises(ConfigurationError, match="has firesteel, lmdb, as the driver's"):
        check_workers_python(session_with(theirs))


def test_another_environment_of_the_same_version_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = a_python(tmp_path, version=OURS)
    with caplog.at_level(logging.WARNING):
        check_workers_python(session_with(theirs))
    assert f"runs its workers by {theirs} ({OURS}), while the driver is {sys.executable}" in caplog.text


def test_a_python_that_does_not_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="a Python that starts; got /nowhere/python"):
        check_workers_python(session_with("/nowhere/python"))


@pytest.mark.spark
@pytest.mark.long
def test_it_is_said_before_the_first_epoch(tmp_path: Path, run_python: RunPython) -> None:
    (tmp_path / "bin").mkdir()
    theirs = a_python(tmp_path / "bin", version="3.9.1").rename(tmp_path / "bin" / "python3")
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    path = f"{theirs.parent}{os.pathsep}{os.environ['PATH']}"
    done = run_python("notebook.py", PATH=path)
    assert done.returncode == 1
    message = done.stderr[done.stderr.index("error: ") :]
    assert message.startswith(
        "error: the Spark session that is open already must run its workers by the driver's"
    )
    assert "3.9.1" in message
    assert sys.executable in message
    assert "org.apache" not in message
