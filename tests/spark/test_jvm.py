"""The driver process of Spark ends: what is said of it, and how jobs go on."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext

from firesteel.spark.jvm import Jvm, leave_lost_jvm
from tests.conftest import PROJECT, RunPython

REFUSED = ConnectionRefusedError(111, "Connection refused")


@pytest.fixture
def ended(monkeypatch):
    """Makes a process that has ended in some way that of Spark's driver."""

    def end(code: str) -> Jvm:
        process = subprocess.Popen([sys.executable, "-c", code])
        process.wait()
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process, close=lambda: None))
        return Jvm()

    return end


@pytest.mark.parametrize(
    ("code", "said", "hint"),
    [
        ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL", "spark.driver.memory=4g"),
        ("raise SystemExit(3)", "exit code 3: it ran out of memory", "spark.driver.memory=4g"),
        ("raise SystemExit(52)", "exit code 52: it ran out of memory", "spark.driver.memory=4g"),
        ("raise SystemExit(1)", "exit code 1", "Spark's log"),
        ("import os; os.kill(os.getpid(), 15)", "killed by SIGTERM", "Spark's log"),
    ],
)
@pytest.mark.parametrize("error", [REFUSED, Py4JNetworkError("empty"), Py4JError("while calling o1.x")])
def test_how_it_ended_is_said(ended, code, said, hint, error):
    jvm = ended(code)
    assert jvm.lost
    loss = str(jvm.loss(error))
    assert loss.startswith("the driver process of Spark (the JVM, process ")
    assert f"has ended; got {said}\n" in loss
    assert hint in loss


def test_other_errors_are_none_of_its(ended):
    assert ended("").loss(ValueError("x")) is None


def test_a_process_that_runs_is_not_left(monkeypatch):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        gateway = SimpleNamespace(proc=process)
        monkeypatch.setattr(SparkContext, "_gateway", gateway)
        leave_lost_jvm()
        assert SparkContext._gateway is gateway
        assert not Jvm().lost
        process.communicate(b"\n")


def test_without_a_process_of_its_own_nothing_is_known(monkeypatch):
    monkeypatch.setattr(SparkContext, "_gateway", None)
    assert not Jvm().lost
    assert Jvm().loss(REFUSED) is None


@pytest.mark.spark
@pytest.mark.timeout(280)
@pytest.mark.long
def test_a_job_goes_on_in_a_new_driver_process(tmp_path, run_python: RunPython):
    program = PROJECT / "tests" / "spark" / "programs" / "loses_its_jvm.py"
    done = run_python(program, tmp_path / "fifo")
    assert done.returncode == 0, done.stderr
    expected = sorted((value % 3, value // 3 + 1) for value in range(20))
    assert done.stdout == f"{expected}\n[2, 3]\n"
    assert "Traceback" not in done.stderr
    assert done.stderr.count("killed by SIGKILL") == 2
