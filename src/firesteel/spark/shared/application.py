"""A Spark application that other processes may attach to, each through a gateway of its own.

PySpark talks to its JVM through a gateway server, which holds on to every Java object that Python may still name, and
starts a thread for each thread of Python. Here each driver gets a server of its own in the one JVM. So a driver that
dies leaves nothing behind: its server is closed, with all objects and threads. And whatever Spark job comes through it
bears the driver's tag and belongs to the job's scheduling pool, because threads of Java inherit the local properties of
those that start them: the one that starts a server has them, and no driver can start a job without.
Source: `Py4JServer` and `SparkContext.localProperties` of Apache Spark 4.
"""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError

from firesteel.common.errors import EngineError
from firesteel.spark.jvm import Jvm
from firesteel.spark.session import open_session

_log = logging.getLogger("firesteel.session")

ENDING_S: Final = 30.0
"""How long the tasks of a driver that is gone may take to end."""

_LOOK_S: Final = 0.05


@dataclass(frozen=True)
class Gateway:
    """The way of one driver into the application: a port of this machine, and what it takes to be let in."""

    port: int
    secret: str


class SharedApplication:
    """A Spark application of this process, with fair pools.

    Contract: each driver is admitted and dismissed by a thread of its own, whose local properties become the driver's.
    """

    def __init__(self, master: str, configuration: dict[str, str]) -> None:
        settings = {"spark.scheduler.mode": "FAIR", **configuration}
        self._context: Any = open_session(master, 1, settings).sparkContext
        self._jvm = Jvm()

    @property
    def lost(self) -> bool:
        """Whether the JVM has ended."""
        return self._jvm.lost

    def check(self) -> None:
        """Raise EngineError if the JVM does not answer any more."""
        try:
            self._context._jvm.System.nanoTime()
        except (Py4JError, OSError) as error:
            raise self._jvm.loss(error) or EngineError(f"Spark's driver process hung up: {error}") from error

    def admit(self, pool: str) -> Admitted:
        """Let a driver in, whose Spark jobs are in a pool."""
        return Admitted(self._context, pool)


class Admitted:
    """A driver within the application, until `dismiss`."""

    def __init__(self, context: Any, pool: str) -> None:
        self._context = context
        self._tag = f"firesteel-driver-{uuid.uuid4().hex}"
        context.setLocalProperty("spark.scheduler.pool", pool)
        context.addJobTag(self._tag)
        self._server = context._jvm.org.apache.spark.api.python.Py4JServer(context._jsc.sc().conf())
        self._server.start()
        self.gateway = Gateway(self._server.getListeningPort(), self._server.secret())

    def dismiss(self) -> None:
        """Cancel all that the driver still runs, wait for its end, and forget the driver."""
        self._server.shutdown()
        deadline = time.monotonic() + ENDING_S
        while self._runs():
            self._context.cancelJobsWithTag(self._tag)
            if time.monotonic() > deadline:
                _log.warning("Spark jobs of a driver that is gone do not end (%s)", self._tag)
                return
            time.sleep(_LOOK_S)

    def _runs(self) -> bool:
        tracker = self._context._jsc.sc().statusTracker()
        active = set(tracker.getActiveJobIds())
        return not active.isdisjoint(tracker.getJobIdsForTag(self._tag))
