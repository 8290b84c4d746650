"""A driver without a job: it takes the job's lock, and then does what the job's first argument says."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from firesteel.control.commands import now_ms
from firesteel.rest.records import DriverProcess, JobRecord, Outcome


def main() -> None:
    record = JobRecord(Path(sys.argv[1]))
    with record.driving() as free:
        if not free:
            sys.exit(3)
        submission, before = record.submission(), record.driver()
        assert submission is not None
        (behaviour,) = submission.arguments
        attempt = 1 if before is None else before.attempt + 1
        if behaviour == "run":
            signal.signal(signal.SIGUSR1, lambda *_: None)
        record.write("driver", DriverProcess(os.getpid(), now_ms(), attempt))
        with (record.directory / "drivers").open("a") as drivers:
            drivers.write(f"{os.getpid()} {os.environ.get('KEY', '')}\n")
        if behaviour == "die":
            os._exit(9)
        if behaviour == "run":
            signal.pause()
        record.write("outcome", Outcome("FINISHED", now_ms()))


if __name__ == "__main__":
    main()
