"""A driver that uses the Spark application of another process.

PySpark assumes that a context belongs to the process that has it. Here it does not: `stop` would stop it for all.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

from py4j.java_gateway import java_import
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from firesteel.spark.jvm import expect_loss
from firesteel.spark.shared.application import Gateway

_log = logging.getLogger("firesteel.session")

_PORT: Final = "PYSPARK_GATEWAY_PORT"
_SECRET: Final = "PYSPARK_GATEWAY_SECRET"


class Process(Protocol):
    """What `firesteel.spark.jvm.Jvm` asks of the process of Spark's driver: a part of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class _SharedContext(SparkContext):
    """A context that is not this process's to stop."""

    def stop(self) -> None:
        _log.warning("the Spark application belongs to the session, and runs on")


def attach(gateway: Gateway, process: Process, environment: Mapping[str, str]) -> None:
    """Make the application behind a gateway the one of this process: `open_session` finds it active.

    `environment` is for the Python workers of this process's jobs; those of jobs with another environment are other
    processes. `process` stands for the application's.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with _found_there(gateway):
        client: Any = launch_gateway()  # type: ignore[no-untyped-call]
    client.proc = process
    java_import(client.jvm, "org.apache.spark.SparkContext")
    running = client.jvm.SparkContext.getOrCreate()
    context = client.jvm.JavaSparkContext(running)
    handler = _interrupt_handler()
    shared = _SharedContext(gateway=client, jsc=context, conf=SparkConf(_jconf=context.getConf()))
    if handler is not None:  # PySpark's own would cancel the jobs of others, too
        signal.signal(signal.SIGINT, handler)
    shared.environment.update(environment)
    classic = client.jvm.org.apache.spark.sql.classic.SparkSession
    session = SparkSession(shared, classic.getDefaultSession().get().newSession())
    expect_loss(session)


def is_shared(session: Any) -> bool:
    """Return whether a session's application is that of another process."""
    return isinstance(SparkContext._active_spark_context, _SharedContext) and isinstance(
        session, SparkSession
    )


def _interrupt_handler() -> Any:
    main = threading.current_thread() is threading.main_thread()
    return signal.getsignal(signal.SIGINT) if main else None


@contextmanager
def _found_there(gateway: Gateway) -> Iterator[None]:
    """Name a gateway where PySpark looks for one; programs that this process starts are not to see it."""
    os.environ[_PORT], os.environ[_SECRET] = str(gateway.port), gateway.secret
    try:
        yield
    finally:
        del os.environ[_PORT], os.environ[_SECRET]
