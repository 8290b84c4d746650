"""The part: a cluster's server, a job at half of its load, and readers in a process of their own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from bench.part import Case, Figures, Part, RunError
from bench.process import printed, sampling
from bench.reads import job
from bench.reads.report import HOW, INTERVALS, QUIET, READS, render, title_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import Manifest
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.rest.client import ClusterClient

SECONDS: Final = 30
FULL_SECONDS: Final = 20
_WARM_UP: Final = 12
_PATIENCE_S: Final = 180
_TIMEOUT_S: Final = 300


def measure(scale: float) -> dict[str, Figures]:
    """Measure each kind of reads, and the same time without any; a scale below 1 shortens the times."""
    seconds = max(SECONDS * min(scale, 1), 5)
    with (
        tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch,
        _cluster(Path(scratch)) as cluster,
    ):
        with cluster.job(0, "0 s") as running:
            full = running.during(max(FULL_SECONDS * min(scale, 1), 5), lambda: None)["records_per_s"]
        found: dict[str, Figures] = {}
        for epochs, interval in INTERVALS.items():
            with cluster.job(full / 2, interval) as running:
                for reads, figures in _read(cluster, running, seconds).items():
                    found[title_of(reads, epochs)] = figures | {"full_records_per_s": full}
    return found


def _read(cluster: _Cluster, running: _Job, seconds: float) -> dict[str, Figures]:
    """Return the figures of each kind of reads of a job, by title, and those without any."""
    found = {QUIET: running.during(seconds, lambda: None)}
    for title, (keys, requests) in READS.items():
        options = ["--keys", keys, "--requests", requests, "--seconds", seconds]
        command = ["-m", "bench.reads.load", *cluster.place, running.id, *options]
        read: dict[str, Any] = {}
        run = running.during(seconds, lambda: read.update(printed(title, command, _TIMEOUT_S)))  # noqa: B023
        found[title] = run | read
    return found


class _Cluster:
    """A server that has been started."""

    def __init__(self, directory: Path, url: str) -> None:
        self._directory = directory
        self._client = ClusterClient(url)
        parts = urlsplit(url)
        self.place = (str(parts.hostname), str(parts.port))

    @contextmanager
    def job(self, rate: float, interval: str) -> Iterator[_Job]:
        """Run the job at a rate, its epochs at least an interval apart, until the context exits."""
        program = self._client.upload(Path(job.__file__))
        body = {"programArgsList": [str(rate), interval], "parallelism": 2}
        job_id = self._client.ask("POST", f"/programs/{program}/run", body)["jobid"]
        running = _Job(job_id, str(self._directory / "jobs" / job_id / "state"))
        running.warm_up()
        try:
            yield running
        finally:
            self._client.ask("PATCH", f"/jobs/{job_id}?mode=cancel")


class _Job:
    """A job that runs in the cluster, seen by its manifests."""

    def __init__(self, job_id: str, directory: str) -> None:
        self.id = job_id
        self._directory = directory

    def warm_up(self) -> None:
        """Wait for the first epoch, and some seconds more."""
        deadline = time.monotonic() + _PATIENCE_S
        while not self._manifests(0.0):
            if time.monotonic() > deadline:
                raise RunError(f"the job had no epoch after {_PATIENCE_S} s")
            time.sleep(0.5)
        time.sleep(_WARM_UP)

    def during(self, seconds: float, work: Callable[[], None]) -> Figures:
        """Do some work for so many seconds; return the records a second meanwhile, and the time between two epochs."""
        start, seen = time.time(), dict[int, Manifest]()
        deadline = time.monotonic() + seconds
        with sampling(lambda: seen.update(self._manifests(start)), 0.5):
            work()
            time.sleep(max(deadline - time.monotonic(), 0))
        epochs = [manifest for _, manifest in sorted(seen.items())]
        if len(epochs) < 3:
            raise RunError(f"the job had {len(epochs)} epochs in {seconds:g} s")
        times = [manifest.created_at for manifest in epochs]
        records = sum(manifest.records for manifest in epochs[1:])
        return {
            "records_per_s": round(records * 1000 / (times[-1] - times[0])),
            "epoch_ms": round(median(after - before for before, after in pairwise(times)), 1),
        }

    def _manifests(self, since: float) -> dict[int, Manifest]:
        try:
            reader = ManifestReader(Storage.existing(self._directory))
            manifests = [reader.read(epoch) for epoch in reader.epochs()[-8:]]
        except FiresteelError:  # there is no directory yet, or an epoch is no longer kept
            return {}
        return {manifest.epoch: manifest for manifest in manifests if manifest.created_at >= since * 1000}


@contextmanager
def _cluster(scratch: Path) -> Iterator[_Cluster]:
    directory = scratch / "cluster"
    command = [sys.executable, "-m", "firesteel.cli", "cluster"]
    started = subprocess.run(
        [*command, "start", str(directory), "--port", "0"], capture_output=True, text=True, check=False
    )
    if started.returncode:
        raise RunError(f"the cluster did not start: {started.stderr}")
    try:
        yield _Cluster(directory, started.stdout.strip().splitlines()[-1])
    finally:
        subprocess.run([*command, "stop", str(directory)], capture_output=True, check=False)


PART: Final = Part(
    name="state-reads",
    title="Reads of a running job's state",
    cases=(Case("reads", measure),),
    render=render,
    how=HOW,
)
