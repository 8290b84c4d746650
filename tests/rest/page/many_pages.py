"""What pages that are looked at cost: the rate of a job that reads as fast as it can, and the server's processor time.

python -m tests.rest.page.many_pages 50        prints the table of docs/web-page.md
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from firesteel.rest.server import PAGE_HEADER
from firesteel.rest.standing import standing
from harness.waiting import until
from tests.rest.many_jobs import processor_time
from tests.rest.page.conftest import NAMES, QUIET
from tests.rest.served import Served

SECONDS: Final = 60.0
EVERY: Final = 2.0
"""Within how many seconds all pages begin."""

_PATIENCE: Final = 60.0
_OPERATOR: Final = "count"
_JOB: Final = "busy"
_PROGRAM: Final = """
import sys

from firesteel.common import Encoder, Types, WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink
from firesteel.datastream.connectors.number_seq import NumberSequenceSource

_, put, name = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
pairs = numbers.map(lambda number: (number % 1000, 1), Types.TUPLE([Types.LONG(), Types.LONG()]))
counts = pairs.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1])).name("count")
few = counts.filter(lambda pair: pair[1] % 100_000 == 0).map(str, Types.STRING())
few.sink_to(FileSink.for_row_format(put, Encoder.simple_string_encoder()).build())
env.execute(name)
"""

Ask = Callable[[str], Any]
View = Generator[float]
"""Asks what a view asks, and yields how many seconds it then waits, as the server says."""


def overview(ask: Ask, _: str) -> View:
    """Ask what the list of jobs asks."""
    version = ""
    while True:
        changes = ask(f"/page/jobs?after={version}")
        version = changes["version"]
        yield changes["again"] / 1000


def graph(ask: Ask, job: str) -> View:
    """Ask what the graph of a job asks."""
    ask("/page/rights")
    at, shape = -1, None
    while True:
        flow = ask(f"/jobs/{job}/flow?after={at}")
        if flow["shape"] != shape:
            ask(f"/jobs/{job}")
        at, shape = flow["measured_at"], flow["shape"]
        yield flow["again"] / 1000


def epochs(ask: Ask, job: str) -> View:
    """Ask what the epochs of a job ask."""
    ask("/page/rights")
    at = -1
    while True:
        flow = ask(f"/jobs/{job}/flow?after={at}")
        at = flow["measured_at"]
        if flow["vertices"] is not None:
            ask(f"/jobs/{job}/epochs")
        yield flow["again"] / 1000


VIEWS: Final[dict[str, Callable[[Ask, str], View]]] = {
    "": overview,
    "jobs/JOB/graph": graph,
    "jobs/JOB/checkpoints": epochs,
}
"""The views that are looked at, by their addresses."""


@dataclass
class Page:
    """A page without a browser: it asks as a view does, over a connection of its own, until it is stopped."""

    url: str
    job: str
    stop: threading.Event
    name: str
    asked: Counter[str] = field(default_factory=Counter)
    failure: Exception | None = None

    def look(self, view: Callable[[Ask, str], View], after: float) -> None:
        self.stop.wait(after)
        self._connection = HTTPConnection(urlsplit(self.url).netloc, timeout=_PATIENCE)
        try:
            for seconds in view(self._ask, self.job):
                if self.stop.wait(seconds):
                    break
        except Exception as failure:
            self.failure = failure
        finally:
            self._connection.close()

    def _ask(self, path: str) -> Any:
        self._connection.request(
            "GET",
            path,
            headers={"Accept-Encoding": "gzip", "Cache-Control": "no-cache", PAGE_HEADER: self.name},
        )
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}")
        self.asked[asked_for(path, self.job)] += 1
        return json.loads(gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body)


def asked_for(path: str, job: str) -> str:
    """Return a path without what changes from request to request."""
    return path.partition("?")[0].replace(job, "JOB")


@contextmanager
def looking(url: str, job: str, count: int) -> Iterator[list[Page]]:
    """Look at so many pages, an equal share of each view. Raises what one of them has failed with."""
    stop = threading.Event()
    pages = [Page(url, job, stop, f"page {number}") for number in range(count)]
    views = [*VIEWS.values()]
    threads = [
        threading.Thread(target=page.look, args=(views[number % len(views)], EVERY * number / count))
        for number, page in enumerate(pages)
    ]
    for thread in threads:
        thread.start()
    try:
        until(lambda: all(page.asked or page.failure for page in pages))
        yield pages
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for failure in (page.failure for page in pages):
        if failure is not None:
            raise failure


@contextmanager
def browsing(url: str, job: str) -> Iterator[list[str]]:
    """Look at the graph of the job in a browser; yields the paths that it asks for."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(asked_for(urlsplit(request.url).path, job)))
        page.goto(f"{url}/#/jobs/{job}/graph")
        page.get_by_role("img", name="The graph of").wait_for(timeout=1000 * _PATIENCE)
        yield asked
        browser.close()


@dataclass(frozen=True)
class Load:
    """What was measured over a while: records per second, and shares of one core."""

    pages: str
    rate: float
    server: float
    asking: float

    def row(self, without: float) -> str:
        change = f"{self.rate / without - 1:+.1%}"
        return f"| {self.pages} | {self.rate:,.0f} | {change} | {self.server:.1%} | {self.asking:.1%} |"


def _load(served: Served, pages: str, seconds: float) -> Load:
    server = int(json.loads((served.cluster / "server.json").read_text())["pid"])
    before, at = _records(served)
    spent, own, begun = processor_time(server), time.process_time(), time.monotonic()
    threading.Event().wait(seconds)
    passed = time.monotonic() - begun
    spent, own = processor_time(server) - spent, time.process_time() - own
    records, now = until(lambda: found if (found := _records(served))[1] > at else None)
    return Load(pages, (records - before) / (now - at), spent / passed, own / passed)


def _records(served: Served) -> tuple[float, float]:
    """The records that the operator has taken, and the time of that number in seconds; zeros before there is one."""
    metrics = standing(served.record(_JOB)).metrics()
    if metrics is None:
        return 0.0, 0.0
    taken = next((each.value("numRecordsIn") for each in metrics.operators if each.name == _OPERATOR), None)
    return float(taken or 0), metrics.measured_at / 1000


def measured(directory: Path, pages: int, seconds: float = SECONDS) -> list[Load]:
    """Run a job, and look at it with no page, with so many, with as many and a browser, and with none again."""
    served = Served(directory)
    try:
        served.run(_JOB, text=_PROGRAM)
        until(lambda: _records(served)[0] > 0)
        url, job = served.client.url, served.jobs[_JOB]
        threading.Event().wait(seconds)  # admission learns what an epoch costs
        found = [_load(served, "none", seconds)]
        for name, browser in ((f"{pages}", nullcontext()), (f"{pages} and a browser", browsing(url, job))):
            with looking(url, job, pages), browser:
                found.append(_load(served, name, seconds))
        return [*found, _load(served, "none again", seconds)]
    finally:
        served.firesteel("cluster", "stop", str(served.cluster))


def table(loads: list[Load]) -> str:
    """Return the rows of a table; rates are compared with those of the first and the last, which are without pages."""
    without = (loads[0].rate + loads[-1].rate) / 2
    return "\n".join(load.row(without) for load in loads)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="firesteel-pages-") as directory:
        sys.stdout.write(table(measured(Path(directory), int(sys.argv[1]))) + "\n")


if __name__ == "__main__":
    main()
