"""Spark's driver process, the JVM: detecting its end, and abandoning it so that another one can start.

PySpark keeps the process, the context and the session in class attributes, and can only release them by a request to
that process. So this module changes these attributes.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import subprocess
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession, SQLContext

from firesteel.common.errors import EngineError

_log = logging.getLogger(__name__)

_ENDING_S: Final = 5.0
"""How long a process may take to end after its connections are closed."""

_OUT_OF_MEMORY: Final = frozenset({3, 52})
"""Exit codes of a JVM by ExitOnOutOfMemoryError, and of Spark (`SparkExitCode.OOM`)."""


def expect_loss(session: Any) -> None:
    """Silence PySpark's messages about the end of the driver process: `Jvm.loss` reports it in one message."""
    server: Any = session.sparkContext._accumulatorServer
    server.handle_error = lambda *_: _log.debug("the driver process hung up", exc_info=True)
    root = logging.getLogger()
    if _is_news not in root.filters:
        root.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for a record of a broken connection in the root logger, to which py4j also logs."""
    return not (record.module == "java_gateway" and record.getMessage() == "Exception while sending command.")


class Jvm:
    """The current process of Spark's driver."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)

    @property
    def lost(self) -> bool:
        """Whether it has ended; always False if somebody else has started it."""
        return self._process is not None and self._process.poll() is not None

    def loss(self, error: Exception) -> EngineError | None:
        """Return an error that says how the process ended, if it has and that may have caused `error`; else None."""
        broken = isinstance(error, Py4JError | OSError) and not isinstance(error, Py4JJavaError)
        if self._process is None or not broken:
            return None
        try:
            code = self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            return None
        return EngineError(
            "has ended",
            who=f"the driver process of Spark (the JVM, process {self._process.pid})",
            got=_how(code),
            hint="give it more memory with --conf spark.driver.memory=4g; the system's log says whether it was killed "
            "because memory ran out"
            if code in _OUT_OF_MEMORY or code == -signal.SIGKILL
            else "Spark's log, above, may say why",
            details=str(error),
        )


def _how(code: int) -> str:
    if code in _OUT_OF_MEMORY:
        return f"exit code {code}: it ran out of memory"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def leave_lost_jvm() -> None:
    """Make PySpark forget a driver process that has ended, with its session, if there is one; a new one can start."""
    if not Jvm().lost:
        return
    context: Any = SparkContext._active_spark_context
    if context is not None:
        context._jsc = None  # otherwise PySpark would ask it to stop
        context.stop()
    gateway: Any = SparkContext._gateway
    with contextlib.suppress(Py4JError, OSError):  # nobody is at the other end
        gateway.close()
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None
