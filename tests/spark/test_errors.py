"""What users are told of Spark's failures, from texts that Spark 4.3 has written."""

from __future__ import annotations

import socket

import pytest

from firesteel.common.errors import EngineError, ProgramError
from firesteel.spark.errors import engine_error
from firesteel.spark.session import require_master

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
        (LOST + JAVA_STACK, "Missing an output location", "executors are lost"),
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
    with pytest.raises(EngineError, match="spark://HOST:PORT"):
        require_master("spark://nowhere")


def test_one_standby_that_answers_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        require_master(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}")
    require_master("yarn")
