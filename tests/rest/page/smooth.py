"""How smooth the page is over 200 jobs, and over a job of 1,000 operators, while all of their numbers change.

python -m tests.rest.page.smooth        prints the tables of docs/web-page.md
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.waiting import until
from tests.rest.many_jobs import processor_time
from tests.rest.page.conftest import NAMES, QUIET, SIZE
from tests.rest.page.kept_jobs import PARALLELISM, WIDE, keeping, made
from tests.rest.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

JOBS: Final = 200
OPERATORS: Final = 1_000
SECONDS: Final = 10.0
"""How long the page is watched while nothing is done, and while it is scrolled."""

_SCRIPT: Final = Path(__file__).with_name("smooth.js")
_AFTER: Final = 0.3
"""How long the page is watched after an answer, as a share of the time that it is watched while nothing is done."""
_WHEEL: Final = 120
_TURNS: Final = 60
_ROWS: Final = "tbody tr"
_SUBTASKS: Final = "[aria-label=Subtasks] tbody tr"
_ID: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Watched:
    """What was seen while something was done: times in milliseconds, `server` the server's share of one core.

    `answer` is how long it took until what was asked for was there, `painted` until the page was first painted after
    an input, at most; None where there was nothing of that. `gap` is the longest time between two frames, `tasks` is
    how often the page did nothing else for more than 50 ms, `longest` the longest of these.
    """

    what: str
    answer: float | None
    painted: float | None
    gap: float
    tasks: int
    longest: float
    server: float

    def row(self) -> str:
        """Return a row of the table."""
        answer, painted = ("" if each is None else f"{each:,.0f} ms" for each in (self.answer, self.painted))
        long = f"{self.tasks} (longest {self.longest:,.0f} ms)" if self.tasks else "none"
        return f"| {self.what} | {answer} | {painted} | {self.gap:,.0f} ms | {long} | {self.server:.0%} |"


@dataclass
class Sent:
    """The largest answer to a path: its bytes as they were sent and as they were read; the slowest one (ms)."""

    packed: int = 0
    size: int = 0
    slowest: float = 0.0

    def row(self, path: str) -> str:
        """Return a row of the table."""
        return f"| `{path}` | {self.packed / 1024:,.0f} KiB | {self.size / 1024:,.0f} KiB | {self.slowest:,.0f} ms |"


@dataclass
class Measured:
    """All that was seen. `paints` are first paints (milliseconds), `changed` is how many rows had another number after
    a while, each by the view; `drawn` is how many boxes the graph had in the document when it was opened, and `reached`
    are the names of those that it had while all was scrolled through.
    """

    watched: list[Watched] = field(default_factory=list)
    sent: dict[str, Sent] = field(default_factory=dict)
    paints: dict[str, float] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    drawn: int = 0
    reached: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Return the rows of the tables, and a line with the first paints."""
        paints = ", ".join(f"{view} {time:,.0f} ms" for view, time in self.paints.items())
        rows = [
            *(each.row() for each in self.watched),
            "",
            *(each.row(path) for path, each in self.sent.items()),
        ]
        return "\n".join([f"first paint: {paints}", "", *rows])


class Watching:
    """A page in a browser, what is seen of it, and the process of the server that it comes from."""

    def __init__(self, page: Page, server: int, seconds: float) -> None:
        self.page = page
        self.found = Measured()
        self._server = server
        self._seconds = seconds
        page.add_init_script(path=_SCRIPT)

    def opened(self, what: str, url: str, rows: int) -> None:
        """Open an address in a new document until it shows so many rows."""
        self.page.goto("about:blank")

        def show() -> float:
            self.page.goto(url)
            shown: float = self.page.evaluate("(asked) => smooth.when(...asked, 0)", [_ROWS, rows])
            return shown

        self._while(what, show)
        self.found.paints[what] = self.page.evaluate("() => smooth.paint")

    def updated(self, what: str, column: int) -> None:
        """Do nothing for a while, and until something is new; count the rows with another number in a column."""
        before = self._column(column)

        def look_on() -> None:
            self._pass(self._seconds)
            until(lambda: self._column(column) != before, 60)

        self._while(what, look_on)
        pairs = zip(before, self._column(column), strict=True)
        self.found.changed[what] = sum(one != other for one, other in pairs)

    def scrolled(self, what: str, selector: str, *, sideways: bool = False) -> None:
        """Turn the wheel over something for a while, there and back."""

        def scroll() -> None:
            deadline, turns = time.monotonic() + self._seconds, 0
            while time.monotonic() < deadline:
                way = _WHEEL if turns // _TURNS % 2 == 0 else -_WHEEL
                self.page.mouse.wheel(*((way, 0) if sideways else (0, way)))
                self.page.evaluate("() => new Promise((resolve) => requestAnimationFrame(resolve))")
                turns += 1

        self.page.locator(selector).scroll_into_view_if_needed()
        self.page.locator(selector).hover()
        self._while(what, scroll)

    def answered(self, what: str, event: str, do: Callable[[], object], selector: str, count: int) -> None:
        """Do something that begins with an event of the browser, until it shows so many of something."""
        self.page.evaluate("(asked) => smooth.expect(...asked)", [event, selector, count])

        def ask() -> float:
            do()
            took: float = self.page.evaluate("() => smooth.answer")
            return took

        self._while(what, ask)

    def _column(self, column: int) -> list[str]:
        return self.page.locator(f"{_ROWS} :nth-child({column})").all_text_contents()

    def _pass(self, seconds: float) -> None:
        self.page.evaluate("(time) => new Promise((done) => setTimeout(done, time))", 1000 * seconds)

    def _while(self, what: str, do: Callable[[], float | None]) -> None:
        """Do something, look on for a moment if it was to show something, and note what was seen."""
        if self.page.url != "about:blank":
            self.page.evaluate("() => smooth.reset()")
        spent, begun = processor_time(self._server), time.monotonic()
        answer = do()
        if answer is not None:
            self._pass(_AFTER * self._seconds)
        server = (processor_time(self._server) - spent) / (time.monotonic() - begun)
        seen = self.page.evaluate("() => smooth.found()")
        tasks = seen["tasks"]
        row = Watched(
            what, answer, seen["input"] or None, seen["gap"], len(tasks), max(tasks, default=0.0), server
        )
        self.found.watched.append(row)
        for path, packed, size, took in seen["answers"]:
            sent = self.found.sent.setdefault(_named(path), Sent())
            sent.packed, sent.size = max(sent.packed, packed), max(sent.size, size)
            sent.slowest = max(sent.slowest, took)


def _named(path: str) -> str:
    """Return a path with names instead of ids.

    >>> _named("/jobs/" + "0" * 32 + "/vertices/" + "1" * 32 + "/flow")
    '/jobs/:jobid/vertices/:vertexid/flow'
    """
    return _ID.sub(":vertexid", _ID.sub(":jobid", path, count=1))


def watch_list(watching: Watching, url: str, jobs: int) -> None:
    """Look at the list of jobs, of which there is one more: the wide one."""
    page, all_rows = watching.page, jobs + 1
    watching.opened("list: opened", url, all_rows)
    watching.updated("list: updated", 4)
    watching.scrolled("list: scrolled", ".wide")
    page.get_by_label("Show only jobs with").focus()
    watching.answered("list: filtered", "keydown", lambda: page.keyboard.type(WIDE), _ROWS, 1)
    erase = lambda: [page.keyboard.press("Backspace") for _ in WIDE]  # noqa: E731
    watching.answered("list: filtered no more", "keydown", erase, _ROWS, all_rows)


def watch_graph(watching: Watching, url: str) -> None:
    """Look at the graph of the wide job."""
    page = watching.page
    canvas, box = ".canvas", "svg.graph g.vertex"
    click: dict[str, Callable[[], object]] = {
        name: page.get_by_role("button", name=name).click for name in ("Smaller", "Larger")
    }
    watching.opened("graph: opened", url, OPERATORS)
    watching.found.drawn = page.locator(box).count()
    watching.updated("graph: updated", 7)
    watching.scrolled("graph: scrolled down", canvas)
    watching.scrolled("graph: scrolled sideways", canvas, sideways=True)
    watching.scrolled("graph: its table scrolled", "[aria-label=Vertices]")
    for size in ("70 %", "50 %", "35 %", "25 %"):
        watching.answered(f"graph: made smaller, {size}", "click", click["Smaller"], _ROWS, OPERATORS)
    watching.updated("graph: updated, at 25 %", 7)
    watching.scrolled("graph: scrolled sideways, at 25 %", canvas, sideways=True)
    watching.found.reached = page.evaluate("(asked) => smooth.through(...asked)", [canvas, f"{box} title"])
    for size in ("35 %", "50 %", "70 %", "100 %"):
        watching.answered(f"graph: made larger, {size}", "click", click["Larger"], _ROWS, OPERATORS)
    step = page.locator(box).filter(has_text="step ").first.click
    watching.answered("graph: a vertex opened", "click", step, _SUBTASKS, PARALLELISM)
    back = page.get_by_role("link", name="← Graph").click
    watching.answered("graph: back from a vertex", "click", back, "[aria-label=Vertices] tbody tr", OPERATORS)


@contextmanager
def browsing() -> Iterator[Page]:
    """Open a page in Chromium."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield browser.new_page(viewport=SIZE)
        browser.close()


def measured(directory: Path, opened: Any = None, jobs: int = JOBS, seconds: float = SECONDS) -> Measured:
    """Serve so many jobs that run and the wide one, and use the page over them; `opened` gives the page to use."""
    ids = made(directory, jobs)
    with keeping(directory / "cluster"):
        served = Served(directory)
        try:
            server = int(json.loads((served.cluster / "server.json").read_text())["pid"])
            with browsing() if opened is None else opened as page:
                watching = Watching(page, server, seconds)
                watch_list(watching, served.client.url, jobs)
                watch_graph(watching, f"{served.client.url}/#/jobs/{ids[-1]}")
                page.goto("about:blank")
                return watching.found
        finally:
            served.firesteel("cluster", "stop", str(served.cluster), "--no-jobs")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="firesteel-smooth-") as directory:
        sys.stdout.write(measured(Path(directory)).table() + "\n")


if __name__ == "__main__":
    main()
