"""A session without Spark: it takes the lock, lets drivers in, and gives them a gateway that leads nowhere."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

from firesteel.rest.records import holding, write
from firesteel.rest.session import Joining, Messages, SessionRecord, Sign, Way, process_here


def main() -> None:
    record = SessionRecord(Path(sys.argv[1]))
    with (record.directory / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    settings = record.settings()
    if settings is not None and settings.master == "none":
        sys.exit(1)
    with holding(record.lock) as free:
        if not free:
            sys.exit(3)
        address = f"{tempfile.mkdtemp(prefix='firesteel-puppet-')}/s"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen()
        write(record.directory / "process.json", process_here(address))
        while True:
            connection, _ = listener.accept()
            messages = Messages(connection)
            assert messages.receive(Joining) is not None
            messages.send(Way(1, "secret"))
            while messages.receive(Sign) is not None:
                messages.send(Sign())


if __name__ == "__main__":
    main()
