"""What users are told of Spark's failures, from texts that Spark 4.3 has written."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from firesteel.common.errors import ConfigurationError, EngineError, ProgramError
from firesteel.spark.errors import engine_error, first_cause
from firesteel.spark.preconditions import require_java, require_master, require_user

RunPython = Callable[..., CompletedProcess[str]]

PROGRAM = """
from firesteel.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).print()
env.execute()
"""

JAVA_STACK = """
\tat org.apache.spark.api.python.BasePythonRunner.applyOrElse(PythonRunner.scala:1136)
\tat java.base/java.lang.Thread.run(Thread.java:840)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2900)
Caused by: java.io.EOFException
\t... 33 more
"""

DIED = (
    "An error occurred while calling o134.collectToPython.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 1.0 failed 4 times, most "
    "recent failure: Lost task 1.3 in stage 1.0 (TID 7) (localhost executor driver): org.apache.spark.SparkException: "
    "Python worker exited unexpectedly (crashed). Consider setting "
    "'spark.sql.execution.pyspark.udf.faulthandler.enabled' or'spark.python.worker.faulthandler.enabled' "
    "configuration to 'true' for the better Python traceback."
)
NO_PYTHON = (
    "An error occurred while calling o134.collectToPython.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most "
    "recent failure: Lost task 0.3 in stage 0.0 (TID 3) (localhost executor driver): java.io.IOException: Cannot run "
    'program "/nosuch/python": error=2, No such file or directory'
)
LOST = (
    "An error occurred while calling o137.collectToPython.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: ShuffleMapStage 1 (collect at run.py:61) "
    "has failed the maximum allowable number of times: 1. Most recent failure reason: "
    "org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 0 partition 0"
)
NO_MODULE = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "./firesteel-e9972e0c387608a7.zip/firesteel/spark/worker.py", line 11, in <module>
    import pyarrow as pa
ModuleNotFoundError: No module named 'pyarrow'"""
STOPPED = (
    "An error occurred while calling o99.range.\n"
    ": java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext."
)


@pytest.mark.parametrize(
    ("text", "got", "hint"),
    [
        (DIED + JAVA_STACK, "Python worker exited unexpectedly (crashed)", "killed (out of memory?)"),
        (NO_PYTHON + JAVA_STACK, 'Cannot run program "/nosuch/python"', "PYSPARK_PYTHON"),
        (LOST + JAVA_STACK, "Missing an output location", "executors keep failing"),
        (NO_MODULE, "No module named 'pyarrow'", "install pyarrow in the workers' Python"),
        (STOPPED + JAVA_STACK, "", "the Spark application has ended"),
        ("java.lang.OutOfMemoryError: Java heap space", "Java heap space", "more memory"),
        ("", "no message", "--debug"),
    ],
    ids=["worker-died", "no-python", "executor-lost", "no-module", "stopped", "no-memory", "empty"],
)
def test_a_failure_is_told_in_two_lines(text: str, got: str, hint: str) -> None:
    error = engine_error(RuntimeError(text))
    assert isinstance(error, EngineError)
    sentence, advice = str(error).split("\n")
    assert got in sentence
    assert hint in advice
    assert "scala" not in sentence
    assert "org.apache" not in sentence
    assert error.details == text


def test_an_error_of_firesteel_is_passed_on() -> None:
    error = ProgramError("requires something")
    assert engine_error(error) is error


def test_a_master_that_does_not_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineError, match=rf"spark://127.0.0.1:{port} does not answer; got .*refused"):
        require_master(f"spark://127.0.0.1:{port}")


def test_one_standby_that_answers_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        require_master(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}")
    require_master("k8s://https://host:6443")


@pytest.mark.parametrize(
    "master", ["sparc://host:7077", "local[x]", "local[2", "spark://host", "spark://h:70777", ""]
)
def test_a_master_that_is_none_is_refused_before_a_jvm_starts(master: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        require_master(master)
    assert "spark://HOST:PORT" in str(caught.value)
    assert repr(master) in str(caught.value)


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4]", "local[4,2]", "local-cluster[2,1,1024]"])
def test_local_masters_are_what_spark_takes(master: str) -> None:
    require_master(master)


def test_yarn_needs_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(ConfigurationError, match="HADOOP_CONF_DIR or YARN_CONF_DIR"):
        require_master("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    require_master("yarn")


def test_a_java_home_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError) as caught:
        require_java()
    assert str(caught.value) == (
        f"Spark requires Java 17 or newer; got JAVA_HOME={tmp_path}, where there is no bin/java\n"
        "  hint: correct JAVA_HOME, or unset it so that the java on the PATH is used"
    )


def test_a_user_without_a_name_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    require_user()
    monkeypatch.setattr(os, "getuid", lambda: 3_999_999)
    with pytest.raises(EngineError, match="user id 3999999, which has no entry in /etc/passwd"):
        require_user()


RUN = """
import subprocess
import sys
from firesteel.spark.noise import without_noise
with without_noise() as said:
    subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write(sys.argv[1])", sys.argv[1]])
sys.stdout.write(said())
"""


def test_the_stack_of_a_jvm_that_could_not_start_is_kept_off_the_terminal(
    run_python: RunPython, tmp_path: Path
) -> None:
    stack = 'Exception in thread "main" org.apache.spark.SparkException: no such thing' + JAVA_STACK
    (tmp_path / "run.py").write_text(RUN)
    done = run_python("run.py", f"before\n{stack}after\n")
    assert done.stderr == "before\n\nDriver stacktrace:\nafter\n"
    assert first_cause(done.stdout) == "no such thing"


@pytest.mark.spark
def test_a_session_that_cannot_start_is_one_message(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(PROGRAM)
    done = run_python(*("-m", "firesteel.cli", "run", "--conf", "spark.driver.memory=lots", "job.py"))
    assert done.returncode == 1
    assert done.stderr.startswith("error: the engine could not start a Spark session; got ")
    assert "lots" in done.stderr
    assert "\tat " not in done.stderr
    assert "Exception in thread" not in done.stderr
