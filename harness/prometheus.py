"""A private Prometheus for tests, on 127.0.0.1, with its data in a temporary directory."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from urllib.error import URLError

from harness.server import ServerProcess, account_of, free_port, running

_CONFIGURATION = """
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: firesteel
    static_configs:
      - targets: [TARGET]
"""


class PrometheusServer:
    """Scrapes `/metrics` of one target, `host:port`, every second. Raises FileNotFoundError if none is installed."""

    environment: ClassVar[dict[str, str]] = {}

    def __init__(self, target: str) -> None:
        program = shutil.which("prometheus")
        if program is None:
            raise FileNotFoundError("no Prometheus here; apt-get install prometheus")
        account = account_of("prometheus")
        self.port = free_port()
        self.directory = Path(tempfile.mkdtemp(prefix="firesteel-prometheus-"))
        (self.directory / "prometheus.yml").write_text(_CONFIGURATION.replace("TARGET", f"'{target}'"))
        (self.directory / "data").mkdir()
        if account is not None:
            self.directory.chmod(0o755)
            shutil.chown(self.directory / "data", account)
        command = [
            program,
            f"--config.file={self.directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.directory / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]
        self._server = ServerProcess(command, self.directory, account)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._server.start(self._is_ready)

    def close(self) -> None:
        """Stop it, and remove its data."""
        self._server.stop(signal.SIGTERM)
        shutil.rmtree(self.directory, ignore_errors=True)

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the present values of an expression."""
        query = urllib.parse.urlencode({"query": expression})
        found: list[dict[str, Any]] = self._get(f"/api/v1/query?{query}")["data"]["result"]
        return found

    def target(self) -> dict[str, Any]:
        """Return how the last scrape of the target went."""
        (target,) = self._get("/api/v1/targets")["data"]["activeTargets"]
        found: dict[str, Any] = target
        return found

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5):
                return True
        except (URLError, OSError):
            return False

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return json.load(answer)


@contextmanager
def scraping(target: str) -> Iterator[PrometheusServer]:
    """Run a Prometheus of a test's own."""
    with running(PrometheusServer(target)) as server:
        yield server
