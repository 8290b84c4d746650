"""The server process of a cluster: one for each directory."""

from __future__ import annotations

import gc
import logging
import os
import socket
import ssl
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
import uvicorn
from starlette.applications import Starlette

from firesteel.common.errors import ConfigurationError
from firesteel.control.commands import now_ms
from firesteel.rest.calls import Cluster
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.gateway.forwarding import GatewayProcess, GatewaySettings
from firesteel.rest.gateway.limits import Limits
from firesteel.rest.history import History
from firesteel.rest.page.flink_ui import FlinkUi
from firesteel.rest.records import SERVER_LOCK, holding, write
from firesteel.rest.routes import GROUPS
from firesteel.rest.schedules import Schedules
from firesteel.rest.security import Security, read_tokens, require_protection
from firesteel.rest.server import MOST_UPLOAD, application
from firesteel.rest.session import SessionSettings

SERVER_FILE: Final = "server.json"

_SWITCH_SECONDS: Final = 0.0005
"""How long a thread that computes keeps the interpreter from others. While an epoch's state is taken over, each request
would wait several times for Python's default of 5 ms."""

_TRIES: Final = 10
_TRY_SECONDS: Final = 0.1
"""Others take the lock for a moment to see whether it is free."""


class ServerFile(msgspec.Struct, frozen=True):
    """The process that serves a directory, for those who look for it."""

    pid: int
    url: str
    started_at: int


@dataclass(frozen=True)
class ServerSettings:
    """How a cluster is served.

    `port` 0 is a free one; `tokens` are lines of ROLE TOKEN; `slots` None is one for each core, but at least 4. With
    `tls_clients`, a file of CAs, only clients with a certificate of one of them are served. `sql` bounds the sessions
    of the SQL gateway. With a `session`, jobs share a Spark application, of which `configuration` has the settings.
    `flink_ui` is a jar or a directory with the files of Flink's web UI.
    """

    directory: Path
    host: str = "127.0.0.1"
    port: int = 8081
    slots: int | None = None
    master: str | None = None
    tokens: str = field(default="", repr=False)
    hosts: tuple[str, ...] = ()
    tls_certificate: str | None = None
    tls_key: str | None = None
    tls_clients: str | None = None
    submission: bool = True
    most_upload: int = MOST_UPLOAD
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    sql: Limits = field(default_factory=Limits)
    session: bool = False
    configuration: Mapping[str, str] = field(default_factory=dict)
    history: History = field(default_factory=History)
    flink_ui: Path | None = None


def serve(settings: ServerSettings) -> None:
    """Serve a directory until SIGTERM or Ctrl-C; jobs go on.

    Raises ConfigurationError if it would listen beyond this machine without protection, if the port is taken, if
    another process serves the directory, or if Flink's web UI is not where the settings say.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    tokens = read_tokens(settings.tokens)
    require_protection(settings.host, tokens, tls=settings.tls_certificate is not None)
    flink_ui = None if settings.flink_ui is None else FlinkUi(settings.flink_ui)
    directory = settings.directory.resolve()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    slots = settings.slots or max(4, os.cpu_count() or 1)
    with _alone(directory), listening(settings.host, settings.port) as listener:
        scheme = "http" if settings.tls_certificate is None else "https"
        port = listener.getsockname()[1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"{scheme}://{host}:{port}"
        session = _session(settings) if settings.session else None
        dispatcher = Dispatcher(
            directory, slots, settings.master, settings.secrets, session=session, history=settings.history
        )
        sql = GatewayProcess(_gateway_settings(settings, directory, slots), directory / "gateway.log")
        cluster = Cluster(
            dispatcher,
            directory / "programs",
            url,
            now_ms(),
            _shown(settings, slots, port),
            settings.submission,
            sql=sql.ask,
        )
        security = Security(tokens, frozenset(settings.hosts))
        web = application(cluster, GROUPS, security, settings.most_upload, flink_ui)
        config = _web(settings, web)
        schedules = Schedules(directory)
        dispatcher.start(lambda: schedules.turn(dispatcher, now_ms()))
        try:
            write(directory / SERVER_FILE, ServerFile(os.getpid(), url, now_ms()))
            logging.getLogger("firesteel.rest").warning("serving %s at %s", directory, url)
            gc.freeze()  # to look through all modules takes some 50 ms, in which nobody is answered
            uvicorn.Server(config).run([listener])
        finally:
            sql.close()
            dispatcher.close()
            cluster.readers.close()
            (directory / SERVER_FILE).unlink(missing_ok=True)


def _gateway_settings(settings: ServerSettings, directory: Path, slots: int) -> str:
    of_gateway = GatewaySettings(
        str(directory),
        slots,
        settings.master,
        settings.submission,
        settings.sql,
        settings.session,
    )
    return msgspec.json.encode(of_gateway).decode()


def _session(settings: ServerSettings) -> SessionSettings:
    master = settings.master or f"local[{os.cpu_count() or 1},4]"
    return SessionSettings(master, dict(settings.configuration))


def _web(settings: ServerSettings, service: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        service,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=15,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        ssl_ca_certs=settings.tls_clients,
        ssl_cert_reqs=ssl.CERT_REQUIRED if settings.tls_clients else ssl.CERT_NONE,
    )


def _shown(settings: ServerSettings, slots: int, port: int) -> dict[str, str]:
    """Return the settings that `/jobmanager/config` shows: no secret is among them."""
    return {
        "rest.address": settings.host,
        "rest.port": str(port),
        "taskmanager.numberOfTaskSlots": str(slots),
        "firesteel.master": settings.master or "local",
        "firesteel.cluster.session": str(settings.session).lower(),
        "firesteel.cluster.directory": str(settings.directory),
        "web.submit.enable": str(settings.submission).lower(),
    }


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    for _ in range(_TRIES):
        with holding(directory / SERVER_LOCK) as free:
            if free:
                yield
                return
        time.sleep(_TRY_SECONDS)
    raise ConfigurationError(
        "is served by another process",
        who=f"the cluster in {directory}",
        hint="firesteel cluster status shows it",
    )


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen at a port (0: a free one). Raises ConfigurationError if that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio lets small answers go at once (TCP_NODELAY) for sockets that name their protocol alone.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise ConfigurationError(
                "cannot be listened at", who=f"{host}:{port}", got=str(error), hint="choose another --port"
            ) from None
        listener.listen(128)
        yield listener
