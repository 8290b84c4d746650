"""`python -m firesteel.rest.gateway.process SETTINGS SOCKET`: the process that executes statements.

It serves a Unix socket that the server has opened, and ends when the server does: then its standard input ends.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import uvicorn

from firesteel.common.decoders import json_decoder
from firesteel.control.commands import now_ms
from firesteel.datastream.ambient import Ambient
from firesteel.rest.calls import Cluster
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.gateway.forwarding import GatewaySettings
from firesteel.rest.gateway.jobs import ClusterJobs
from firesteel.rest.gateway.limits import Limits
from firesteel.rest.gateway.paths import routes
from firesteel.rest.gateway.serving import GatewayHandlers
from firesteel.rest.gateway.sessions import Sessions
from firesteel.rest.gateway.upkeep import ClusterUpkeep
from firesteel.rest.security import Security
from firesteel.rest.server import application
from firesteel.rest.session import SessionRecord


def main() -> None:
    """Serve until the server ends."""
    settings = json_decoder(GatewaySettings).decode(sys.argv[1])
    listener = socket.socket(fileno=int(sys.argv[2]))
    directory = Path(settings.directory)
    session = SessionRecord(directory / "session").settings() if settings.session else None
    dispatcher = Dispatcher(directory, settings.slots, settings.master, session=session)
    jobs = ClusterJobs(dispatcher, submission=settings.submission)
    sessions = Sessions(jobs.submit, ClusterUpkeep(jobs, dispatcher), settings.limits)
    handlers = GatewayHandlers(sessions, jobs, Ambient(master=settings.master))
    cluster = Cluster(dispatcher, directory / "programs", "", now_ms())
    service = application(cluster, [routes(handlers.by_name())], Security())
    config = uvicorn.Config(service, log_config=None, access_log=False, lifespan="off", server_header=False)
    ended = threading.Event()
    for body in (_end_with_server, lambda: _close_idle(sessions, settings.limits, ended)):
        threading.Thread(target=body, daemon=True).start()
    try:
        uvicorn.Server(config).run([listener])
    finally:
        ended.set()
        sessions.close_all()


def _end_with_server() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _close_idle(sessions: Sessions, limits: Limits, ended: threading.Event) -> None:
    while limits.closes_idle and not ended.wait(limits.check_ms / 1000):
        sessions.close_idle()


if __name__ == "__main__":
    main()
