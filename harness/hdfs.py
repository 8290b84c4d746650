"""A private HDFS for tests: a name node and a data node in one process on 127.0.0.1, in a temporary directory.

The archives (69 MB) are fetched once, see `harness.maven`; the client's come with pyspark, which has the same version.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyspark

from harness.maven import CACHE, jars
from harness.server import free_port, serve_until_interrupted

VERSION: Final = "3.5.0"
_STARTS_WITHIN_S: Final = 120
_STOPS_WITHIN_S: Final = 30
_JAVA: Final = ("java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@contextmanager
def serving() -> Iterator[str]:
    """Serve HDFS; yield its URL, such as ``webhdfs://127.0.0.1:50070``."""
    classes = jars(Path(__file__).with_suffix(".jars"), CACHE / f"hadoop-{VERSION}")
    client = Path(pyspark.__file__).parent / "jars" / f"hadoop-client-*-{VERSION}.jar"
    own = ":".join(map(str, client.parent.glob(client.name)))
    directory = Path(tempfile.mkdtemp(prefix="firesteel-hdfs-"))
    port = free_port()
    command = [*_JAVA, "-cp", f"{classes}:{own}", str(Path(__file__).with_name("Hdfs.java")), str(directory)]
    log = (directory / "log").open("wb")
    process = subprocess.Popen(
        [*command, str(port)], stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=directory
    )
    try:
        _wait(process, directory)
        yield f"webhdfs://127.0.0.1:{port}"
    finally:
        _stop(process)
        log.close()
        shutil.rmtree(directory, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], directory: Path) -> None:
    until = time.monotonic() + _STARTS_WITHIN_S
    while not (directory / "ready").exists():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"HDFS does not start:\n{(directory / 'log').read_text()[-5000:]}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(timeout=_STOPS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    serve_until_interrupted(serving(), str)
