"""The process that runs the job until it is asked to stop, and logs its events with their times, one JSON line each."""

from __future__ import annotations

import time

BEGAN = time.time()

import argparse  # noqa: E402  (imports are part of what is timed)
import json  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from bench.durability.job import Load, build  # noqa: E402
from bench.written import StateDirectory  # noqa: E402
from firesteel.checkpoint.log import ManifestReader  # noqa: E402
from firesteel.checkpoint.objects import Storage  # noqa: E402
from firesteel.common import Configuration  # noqa: E402
from firesteel.control.listeners import EpochStats  # noqa: E402
from firesteel.datastream import StreamExecutionEnvironment  # noqa: E402
from firesteel.datastream.ambient import Ambient, surrounded_by  # noqa: E402

CORES = 2


class Notes:
    """The file that the supervisor reads; a listener of the job."""

    def __init__(self, path: Path, state: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._state = state
        self._directory = StateDirectory(state)

    def write(self, what: str, at: float, **more: Any) -> None:
        print(json.dumps({"what": what, "at": at, **more}), file=self._file, flush=True)

    def on_epoch(self, stats: EpochStats) -> None:
        """Note an epoch, and what it has added to the state directory."""
        at = time.time()
        manifest = ManifestReader(Storage.of(self._state)).read(stats.epoch)
        self.write(
            "epoch",
            at,
            epoch=stats.epoch,
            ms=stats.duration_ms,
            records=stats.records_in,
            parallelism=max(operator.parallelism for operator in manifest.operators.values()),
            **self._directory.written(stats.epoch)._asdict(),
        )


def main() -> None:
    """Run the job that the command line describes."""
    arguments = _arguments()
    notes = Notes(arguments.notes, arguments.state)
    notes.write("began", BEGAN)
    notes.write("imported", time.time())
    load = Load(arguments.keys, arguments.changed)
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{CORES},4]")
    configuration.set_string("firesteel.state-dir", str(arguments.state))
    configuration.set_string("firesteel.epoch.max-records", str(arguments.epoch_records or load.records))
    configuration.set_string("firesteel.epoch.duration", "1 h")  # only the number of records ends an epoch
    with surrounded_by(Ambient(listeners=(notes,), restore_from=arguments.restore_from)):
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(CORES)
        build(env, load, arguments.gate)
        client = env.execute_async("durability")
        notes.write("launched", time.time())
        client.get_job_execution_result().result()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--keys", type=int, required=True)
    parser.add_argument("--changed", type=int, required=True)
    parser.add_argument("--gate", type=int)
    parser.add_argument("--epoch-records", type=int)
    parser.add_argument("--from", dest="restore_from")
    return parser.parse_args()


if __name__ == "__main__":
    main()
