"""A standalone Spark cluster on this machine: a master and workers, each in its own process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import pyspark

from harness.guard import guard, kill_session

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
START_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Cluster:
    """The master's URL, and the process sessions of its workers, their executors and their Python workers."""

    url: str
    sessions: frozenset[int]


@contextmanager
def standalone_cluster(directory: Path, workers: int, cores: int = 1) -> Iterator[Cluster]:
    """Run a master and workers of some cores each. All their processes are killed at the end, and if this one dies."""
    with ExitStack() as running:
        master = running.enter_context(_Daemon(directory / "master", "master.Master", "--port", "0"))
        url = master.wait_for(r"Starting Spark master at (spark://\S+)")
        arguments = ("--port", "0", "--cores", str(cores), "--memory", "1g", url)
        started = [
            running.enter_context(_Daemon(directory / f"worker-{number}", "worker.Worker", *arguments))
            for number in range(workers)
        ]
        for worker in started:
            worker.wait_for(r"Successfully registered with master")
        yield Cluster(url, frozenset(worker.session for worker in started))


class _Daemon:
    """One JVM of the cluster and its child processes, in their own process group."""

    def __init__(self, directory: Path, name: str, *arguments: str) -> None:
        self._directory = directory
        self._command = [
            str(SPARK_CLASS),
            f"org.apache.spark.deploy.{name}",
            *("--host", "127.0.0.1", "--webui-port", "0"),
            *arguments,
        ]
        self._lines: Queue[str | None] = Queue()

    def __enter__(self) -> _Daemon:
        self._directory.mkdir(parents=True)
        self._process = subprocess.Popen(
            self._command,
            env={**os.environ, **self._environment()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        guard().watch(self.session)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        kill_session(self.session)
        guard().forget(self.session)
        self._process.wait()
        self._reader.join()

    @property
    def session(self) -> int:
        """The process session that it leads; its executors' Python daemons leave its process group, not the session."""
        return self._process.pid

    def wait_for(self, pattern: str) -> str:
        """Return the first group (or all) of the first line of the log that matches."""
        seen = []
        while (line := self._lines.get(timeout=START_SECONDS)) is not None:
            seen.append(line)
            if found := re.search(pattern, line):
                return found[found.re.groups]
        raise AssertionError("a process of the cluster has ended:\n" + "".join(seen))

    def _environment(self) -> dict[str, str]:
        """Return an environment in which workers find neither Firesteel nor the program: both must be shipped."""
        return {
            "PYTHONPATH": "",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self._directory / "work"),
            "SPARK_LOCAL_DIRS": str(self._directory / "local"),
        }

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)
