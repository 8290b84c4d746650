"""Ctrl-C and SIGTERM while a Spark session starts."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

RunPython = Callable[..., CompletedProcess[str]]

PROGRAM = """
import signal
from pyspark.sql import SparkSession
from firesteel.spark.session import open_session

making = SparkSession.__init__

def struck(session, *arguments, **options):
    signal.raise_signal(signal.SIGINT)
    making(session, *arguments, **options)

SparkSession.__init__ = struck
try:
    open_session(None, 1, {})
except KeyboardInterrupt:
    print("interrupted")
SparkSession.__init__ = making
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
print(open_session(None, 1, {}).range(3).count())
"""


@pytest.mark.spark
def test_ctrl_c_breaks_off_no_request_to_the_jvm(run_python: RunPython) -> None:
    done = run_python("-c", PROGRAM)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["interrupted", "True", "3"]
