"""`python -m firesteel.cli.session DIRECTORY`: the process of a cluster's session, which has its Spark application.

It runs until SIGTERM, or until its JVM ends; drivers that have joined it learn so from their connections.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Final

from firesteel.cli.program import log_on_stderr, report
from firesteel.common.errors import EngineError, FiresteelError, StateError
from firesteel.common.log_formats import process_form
from firesteel.common.signals import TERMINATED, Terminated, heed_sigterm, patiently
from firesteel.rest.records import holding, write
from firesteel.rest.session import Joining, Messages, SessionRecord, Sign, Way, process_here
from firesteel.spark.shared.application import SharedApplication

_LOOK_S: Final = 0.2
_MOST_WAITING: Final = 128


def main() -> int:
    """Keep the session of the directory that is the only argument, and return the exit code."""
    record = SessionRecord(Path(sys.argv[1]))
    with holding(record.lock) as free:
        if not free:
            return 0
        heed_sigterm()
        try:
            with log_on_stderr(verbose=True, form=process_form({})):
                _keep(record)
        except Terminated:
            return TERMINATED
        except FiresteelError as error:
            report(error)
        return 1


def _keep(record: SessionRecord) -> None:
    settings = record.settings()
    if settings is None:
        raise StateError("requires settings", who="a session", got=str(record.directory))
    application = SharedApplication(settings.master, settings.configuration)
    # The path of a socket must be short, and a cluster's directory may have a long one.
    place = Path(tempfile.mkdtemp(prefix="firesteel-session-"))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(place / "s"))
        listener.listen(_MOST_WAITING)
        threading.Thread(target=_accept, args=(listener, application), daemon=True).start()
        write(record.directory / "process.json", process_here(str(place / "s")))
        patiently(_Ended(application))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    raise EngineError("has ended", who="the JVM of the session")


class _Ended:
    """Waits for the end of an application's JVM."""

    def __init__(self, application: SharedApplication) -> None:
        self._application = application
        self._moment = threading.Event()

    def __call__(self, seconds: float | None) -> bool:
        self._moment.wait(_LOOK_S if seconds is None else min(_LOOK_S, seconds))
        return self._application.lost


def _accept(listener: socket.socket, application: SharedApplication) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection, application), daemon=True).start()


def _serve(connection: socket.socket, application: SharedApplication) -> None:
    """Look after one driver for as long as its connection lasts."""
    with connection, Messages(connection) as messages:
        joining = messages.receive(Joining)
        if joining is None:
            return
        try:
            admitted = application.admit(joining.job)
            try:
                messages.send(Way(admitted.gateway.port, admitted.gateway.secret))
                while messages.receive(Sign) is not None:
                    application.check()
                    messages.send(Sign())
            finally:
                admitted.dismiss()
        except OSError:
            return  # the driver has gone while it was answered
        except Exception as error:  # the JVM does not do what it must: its drivers need another one
            report(error)
            os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
