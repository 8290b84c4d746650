"""The Spark session of a job, with the settings that the engine depends on."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

import firesteel
from firesteel.common.errors import ConfigurationError, EngineError
from firesteel.common.signals import holding_signals, result_of
from firesteel.runtime.routing import BLOCK_BYTES
from firesteel.spark.class_archive import archive_options
from firesteel.spark.errors import first_cause
from firesteel.spark.foreign import check_workers_python
from firesteel.spark.jvm import Jvm, expect_loss, leave_lost_jvm
from firesteel.spark.noise import without_noise
from firesteel.spark.preconditions import is_local, require_java, require_master, require_user

_STATIC: Final = {
    "spark.speculation": "false",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.python.worker.reuse": "true",
    "spark.python.unix.domain.socket.enabled": "true",
}
"""Settings of the application; an existing session must not contradict them."""

JAVA_OPTIONS: Final = (
    f"-Dlog4j2.configurationFile=file:{Path(__file__).parent}/log4j2.properties -XX:TieredStopAtLevel=1 "
    "-XX:+ExitOnOutOfMemoryError"
)
"""The JVM only plans and moves bytes: its second compiler costs more (half of the time to a first result) than it ever
saves. A JVM that is out of memory ends instead of hanging: a job can continue in a new one."""

_STARTING: Final = {
    **_STATIC,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
}
"""Settings of an application started here."""

_SQL: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(4 * BLOCK_BYTES),
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
}
"""Settings of a session: task p must be subtask p, and a task holds few blocks at a time."""

_PREFERRED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ui.explainMode": "simple",
}
"""Settings of a session that a user may change. A row is a whole block: generated code for a plan would cost more to
compile than it ever saves."""

_FIXED_BY_ENGINE: Final = frozenset({*_STATIC, *_SQL})

_known: Final[set[str]] = set()
"""Applications that were started here, or whose Python has been checked."""

_started: Final[set[str]] = set()
"""Applications that were started here."""

logger = logging.getLogger(__name__)
# Otherwise a program that logs at INFO to standard output has py4j's housekeeping among its results.
logging.getLogger("py4j").setLevel(logging.WARNING)


def open_session(master: str | None, parallelism: int, configuration: dict[str, str]) -> Any:
    """Return a session for one job: a new one of the running application, or of an application started here.

    `configuration` holds the user's `spark.*` settings. Raises ConfigurationError for one that the engine fixes,
    EngineError if Java is missing or the master cannot be reached.
    """
    _check(configuration)
    leave_lost_jvm()
    active = SparkSession.getActiveSession()
    if active is None:
        active = _start(master, parallelism, configuration)
    else:
        _check_active(active, master)
    session = active.newSession() if hasattr(active, "newSession") else active
    for name, value in {**_PREFERRED, **_SQL}.items():
        session.conf.set(name, value)
    for name, value in configuration.items():
        if name.startswith("spark.sql."):
            session.conf.set(name, value)
    _check_running(session)
    return session


def _check(configuration: dict[str, str]) -> None:
    for name in configuration:
        if name in _FIXED_BY_ENGINE:
            raise ConfigurationError(
                f"fixes the Spark setting {name}, so it cannot be set",
                who="the engine",
                got=f"{name}={configuration[name]}",
                hint="leave it out: docs/architecture.md says why each is needed",
            )


def _check_active(active: Any, master: str | None) -> None:
    running = active.conf.get("spark.master", "")
    if master is not None and running != master:
        logger.warning("a Spark session is active already; --master %s is not used", master)
    application = active.conf.get("spark.app.id", "")
    if application not in _known and is_local(running):
        check_workers_python(active)
        _known.add(application)


def _check_running(session: Any) -> None:
    if session.conf.get("spark.speculation", "false") == "true":
        raise ConfigurationError(
            "requires a Spark application without speculation, since two tries of a task would both write state",
            who="the engine",
            got="spark.speculation=true in the session that is active",
            hint="start the session with spark.speculation=false",
        )
    if session.conf.get("spark.stage.maxConsecutiveAttempts", "4") != "1":
        logger.warning(
            "the Spark application that is active repeats parts of a stage whose output was lost: results are exact "
            "only if the program's functions are deterministic (start it with spark.stage.maxConsecutiveAttempts=1)"
        )


def _start(master: str | None, parallelism: int, configuration: dict[str, str]) -> Any:
    require_java()
    require_user()
    if master is not None:
        require_master(master)
    settings = {**_STARTING, **_PREFERRED, **_SQL}
    settings["spark.driver.extraJavaOptions"] = f"{JAVA_OPTIONS} {archive_options()}".rstrip()
    os.environ.setdefault("PYSPARK_PYTHON", configuration.get("spark.pyspark.python", sys.executable))
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master is None or is_local(master):
        # Spark uses the machine's name as its address; a laptop's often does not resolve.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings["spark.executorEnv.PYTHONPATH"] = str(Path(firesteel.__file__).parents[1])
        settings["spark.python.daemon.module"] = "firesteel.spark.daemon"
    builder = SparkSession.builder.appName("firesteel").master(master or f"local[{parallelism},4]")
    for name, value in {**settings, **configuration}.items():
        builder = builder.config(name, value)
    try:
        with without_noise() as said:
            _start_context(builder)
            with holding_signals():
                return _owned(builder.getOrCreate())
    except Exception as error:
        words = f"{said()}\n{error}".strip()
        raise EngineError(
            "could not start a Spark session",
            who="the engine",
            got=first_cause(words),
            hint="check the Spark settings, and `firesteel info`",
            details=words,
        ) from error


def _start_context(builder: Any) -> None:
    """Start the application of a session, while Ctrl-C and SIGTERM come at once.

    In the main thread PySpark would replace the handler of Ctrl-C by one that cancels running epochs, and would log
    the traceback of what the signal breaks off. After a signal the start goes on; another one finds the application.
    """
    started: Future[None] = Future()

    def start() -> None:
        try:
            SparkContext.getOrCreate(SparkConf().setAll([*builder._options.items()]))
            started.set_result(None)
        except BaseException as error:
            started.set_exception(error)

    threading.Thread(target=start, name="firesteel-spark-start", daemon=True).start()
    result_of(started)


def _owned(session: Any) -> Any:
    """Remember that a session's application was started here, and stop it when this process ends."""
    expect_loss(session)
    _known.add(session.sparkContext.applicationId)
    _started.add(session.sparkContext.applicationId)
    atexit.register(
        _stop, session, Jvm()
    )  # otherwise the workers report a closed pipe when this process ends
    return session


def _stop(session: Any, jvm: Jvm) -> None:
    if not jvm.lost:
        session.stop()


def started_here(session: Any) -> bool:
    """Return whether a session's application was started by `open_session`, which could start it again."""
    return session.conf.get("spark.app.id", "") in _started
