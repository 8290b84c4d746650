"""A SQL gateway in this process: queries run here, too, and the jobs of INSERTs are records."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from firesteel.datastream.ambient import Ambient
from firesteel.rest.calls import Cluster
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.gateway import forwarding
from firesteel.rest.gateway.jobs import ClusterJobs
from firesteel.rest.gateway.limits import Limits
from firesteel.rest.gateway.paths import routes
from firesteel.rest.gateway.serving import GatewayHandlers
from firesteel.rest.gateway.sessions import Sessions
from firesteel.rest.gateway.upkeep import ClusterUpkeep
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from firesteel.testing import LocalExecutor

LOCAL = "http://127.0.0.1:8081"


class GatewayHere:
    """The gateway with its parts; `now` is its clock. With the `page` it has all else of a service, too.

    Jobs are accepted, and do not start.
    """

    def __init__(
        self,
        directory: Path,
        *,
        submission: bool = True,
        security: Security | None = None,
        limits: Limits | None = None,
        page: bool = False,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        self.now = 0.0
        self.dispatcher = Dispatcher(directory, 4, secrets=secrets)
        jobs = ClusterJobs(self.dispatcher, submission=submission)
        upkeep = ClusterUpkeep(jobs, self.dispatcher)
        self.sessions = Sessions(jobs.submit, upkeep, limits or Limits(idle_ms=60_000), lambda: self.now)
        handlers = GatewayHandlers(self.sessions, jobs, Ambient(executor=LocalExecutor))
        cluster = Cluster(self.dispatcher, directory / "programs", LOCAL, 0, submission=submission)
        groups = [forwarding.ROUTES[:2], routes(handlers.by_name()), *(GROUPS if page else ())]
        self.service = application(cluster, groups, security or Security())

    @contextmanager
    def listening(self) -> Iterator[str]:
        """Serve a free port of this machine, and yield the URL."""
        server = uvicorn.Server(uvicorn.Config(self.service, port=0, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            moment = threading.Event()
            while not server.started:
                moment.wait(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}"
        finally:
            self.sessions.close_all()
            server.should_exit = True
            thread.join()
