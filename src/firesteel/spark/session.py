"""The Spark session a job runs in, with the settings the engine rests on."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

import firesteel
from firesteel.common.errors import ConfigurationError, EngineError
from firesteel.runtime.routing import BLOCK_BYTES
from firesteel.spark.class_archive import archive_options
from firesteel.spark.noise import without_noise

_STATIC: Final = {
    "spark.speculation": "false",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.python.worker.reuse": "true",
    "spark.python.unix.domain.socket.enabled": "true",
}
"""Settings of the application; a session that is already there must not contradict them."""

JAVA_OPTIONS: Final = (
    f"-Dlog4j2.configurationFile=file:{Path(__file__).parent}/log4j2.properties -XX:TieredStopAtLevel=1"
)
"""The JVM only plans and moves bytes: its second compiler costs more (half of the time to a first result) than it
ever gives back."""

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
"""Settings of a session that a user may have otherwise. A row is a whole block: code made for a plan would cost more
to compile than it ever saves."""

_FIXED_BY_ENGINE: Final = frozenset({*_STATIC, *_SQL})

logger = logging.getLogger(__name__)
# A program that logs at INFO to standard output would have py4j's housekeeping among its results.
logging.getLogger("py4j").setLevel(logging.WARNING)


def open_session(master: str | None, parallelism: int, configuration: dict[str, str]) -> Any:
    """Return a session for one job: a new one of the running application, or of an application started here.

    `configuration` holds the user's `spark.*` settings; one that the engine fixes raises ConfigurationError.
    Raises EngineError when Java is missing or the master cannot be reached.
    """
    _check(configuration)
    active = SparkSession.getActiveSession()
    if active is None:
        active = _start(master, parallelism, configuration)
    elif master is not None and active.conf.get("spark.master") != master:
        logger.warning("a Spark session is active already; --master %s is not used", master)
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
    _require_java()
    settings = {**_STARTING, **_PREFERRED, **_SQL}
    settings["spark.driver.extraJavaOptions"] = f"{JAVA_OPTIONS} {archive_options()}".rstrip()
    os.environ.setdefault("PYSPARK_PYTHON", configuration.get("spark.pyspark.python", sys.executable))
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master is None or is_local(master):
        # Spark takes the machine's name for its address; a laptop's often does not resolve.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings["spark.executorEnv.PYTHONPATH"] = str(Path(firesteel.__file__).parents[1])
        settings["spark.python.daemon.module"] = "firesteel.spark.daemon"
    else:
        require_master(master)
    builder = SparkSession.builder.appName("firesteel").master(master or f"local[{parallelism},4]")
    for name, value in {**settings, **configuration}.items():
        builder = builder.config(name, value)
    handler = (
        signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    )
    try:
        with without_noise():
            session = builder.getOrCreate()
    except Exception as error:
        raise EngineError(
            "could not start a Spark session",
            who="the engine",
            got=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}",
            hint="check the master URL and `firesteel info`",
            details=str(error),
        ) from error
    if handler is not None:  # pyspark's own handler cancels the running epoch on Ctrl-C; ours lets it end
        signal.signal(signal.SIGINT, handler)
    atexit.register(session.stop)  # else the workers meet a closed pipe when this process ends, and say so
    return session


def is_local(master: str) -> bool:
    """Whether the workers run on this machine, in the application's own process: `local`, `local[4]`.

    >>> is_local("local[2,4]"), is_local("local-cluster[2,1,1024]"), is_local("spark://host:7077")
    (True, False, False)
    """
    return master == "local" or master.startswith("local[")


def require_master(master: str, timeout: float = 5.0) -> None:
    """Check that a standalone master's port (one of several, where there are standbys) accepts a connection.

    Spark itself would try for a minute. Raises EngineError if none does within `timeout` seconds each; other
    kinds of master are left to Spark.
    """
    if not master.startswith("spark://"):
        return
    problem = ""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout).close()
            return
        except (OSError, ValueError) as error:
            problem = str(error)
    raise EngineError(
        "does not answer",
        who=f"the master {master}",
        got=problem,
        hint="check that it runs, and its address (spark://HOST:PORT; the port is 7077 unless set otherwise)",
    )


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if (home and os.access(Path(home) / "bin" / "java", os.X_OK)) or shutil.which("java"):
        return
    raise EngineError(
        "requires Java 17 or newer",
        who="Spark",
        got="no java on the PATH and no JAVA_HOME",
        hint="install a JRE, e.g. `apt-get install openjdk-17-jre-headless`",
    )
