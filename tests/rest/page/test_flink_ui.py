"""Flink's own web UI over a job on Spark: each of its pages shows the job, and nothing goes wrong on any."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.flink_ui import flink_ui_jar
from harness.waiting import until
from tests.rest.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(900),
]

SOON_MS = 60_000

PLANNED = """
from firesteel.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2]).map(lambda number: number + 1).name("add").print()
env.execute("planned")
"""

JOB_PAGES = {
    "overview": "Busy (max)",
    "exceptions": "No Root Exception",
    "dataskew": "Coefficient of Variation",
    "timeline": "Vertex TimeLine",
    "checkpoints": "Latest Completed",
    "configuration": "Object reuse mode",
}
DRAWERS = {
    "detail": "Max Parallelism",
    "subtasks": "Endpoint",
    "taskmanagers": "Endpoint",
    "watermarks": "Datetime of Watermark",
    "accumulators": "Vertex Accumulators",
    "backpressure": "Back Pressure Status",
    "metrics": "Add Metric",
    "flamegraph": "On-CPU",
}
MANAGER_PAGES = {
    "metrics": "Flink Managed Memory",
    "logs": "firesteel",
    "stdout": "firesteel",
    "log-list": "driver.log",
    "log-list/driver.log": "firesteel",
    "thread-dump": "MainThread",
    "profiler": "Profiling Mode",
}
SERVER_PAGES = {
    "metrics": "JVM Heap",
    "config": "firesteel.cluster.directory",
    "logs": "serving",
    "stdout": "serving",
    "log": "server.log",
    "log/server.log": "serving",
    "thread-dump": "MainThread",
    "profiler": "Profiling Mode",
}
LISTS = {
    "overview": "Available Task Slots",
    "application/running": "SingleJobApplication(words)",
    "application/completed": "Completed Applications",
    "job/running": "words",
    "job/completed": "Completed Jobs",
    "task-manager": "firesteel://",
    "submit": "Uploaded Jars",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("flink-ui"), "--session", "--flink-ui", str(flink_ui_jar()))
    try:
        made.run("words")
        until(lambda: len(made.counts("words")) == 3)
        yield made
    finally:
        made.firesteel("cluster", "stop", str(made.cluster))


class Dashboard:
    """The UI in a tab, with the requests that it has sent and those that were refused."""

    def __init__(self, page: Page, served: Served) -> None:
        self.page = page
        self.served = served
        self.refused: list[str] = []
        page.set_default_timeout(SOON_MS)
        page.on("response", lambda answer: self.refused.append(answer.url) if answer.status >= 400 else None)

    def open(self, route: str, text: str) -> None:
        """Load a page of the UI, and see that it shows a text, and no notice of an error."""
        self.page.goto("about:blank")  # otherwise it only moves on from the last one
        self.page.goto(f"{self.served.client.url}/flink/#/{route}")
        self.sees(text)

    def sees(self, text: str) -> None:
        self.page.get_by_text(text).locator("visible=true").first.wait_for()
        self.page.wait_for_load_state("networkidle")
        assert self.refused == []
        assert self.page.locator(".ant-notification-notice, .ant-message-error").count() == 0
        assert "NaN" not in self.page.inner_text("body")

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).last.click()


@pytest.fixture
def dashboard(page: Page, served: Served) -> Dashboard:
    return Dashboard(page, served)


def test_lists_and_pages_of_a_job(dashboard: Dashboard, served: Served):
    for route, text in LISTS.items():
        dashboard.open(route, text)
    job = served.jobs["words"]
    for kind in ("overview", "exceptions"):
        dashboard.open(f"application/running/{job}/{kind}", "SingleJobApplication(words)")
    for name, text in JOB_PAGES.items():
        dashboard.open(f"job/running/{job}/{name}", text)


def test_checkpoints_and_savepoints(dashboard: Dashboard, served: Served):
    job = served.jobs["words"]
    place = served.firesteel("savepoint", f"{served.client.url}/jobs/{job}").strip()
    dashboard.open(f"job/running/{job}/checkpoints", "Latest Savepoint")
    assert Path(place.removeprefix("file:")).name in dashboard.page.inner_text("body")
    for name, text in {
        "History": "COMPLETED",
        "Summary": "99.9% percentile",
        "Configuration": "Exactly Once",
    }.items():
        dashboard.tab(name)
        dashboard.sees(text)


def test_what_is_known_of_vertices(dashboard: Dashboard, served: Served, thorough: bool):
    job = served.jobs["words"]
    first, *others = (vertex["id"] for vertex in served.ask(f"/jobs/{job}")["vertices"])
    for name, text in DRAWERS.items():
        dashboard.open(f"job/running/{job}/overview/{first}/{name}", text)
    for vertex in others:
        for name in DRAWERS if thorough else ["detail"]:
            dashboard.open(f"job/running/{job}/overview/{vertex}/{name}", DRAWERS[name])


def test_processes(dashboard: Dashboard, served: Served):
    (manager,) = served.ask("/taskmanagers")["taskmanagers"]
    for name, text in MANAGER_PAGES.items():
        dashboard.open(f"task-manager/{manager['id']}/{name}", text)
    for name, text in SERVER_PAGES.items():
        dashboard.open(f"job-manager/{name}", text)
    about = served.ask(f"/taskmanagers/{manager['id']}")
    figures = about["metrics"]
    assert 0 < figures["heapUsed"] <= figures["heapCommitted"] <= figures["heapMax"]
    assert about["memoryConfiguration"]["taskHeap"] == figures["heapMax"]
    assert figures["garbageCollectors"][0]["name"] == "All"
    threads = served.ask(f"/taskmanagers/{manager['id']}/thread-dump")["threadInfos"]
    names = {thread["threadName"] for thread in threads}
    assert {"MainThread", "firesteel-inbox", "main"} <= names  # Python's, and the JVM's


def test_a_profile(dashboard: Dashboard, served: Served):
    (manager,) = served.ask("/taskmanagers")["taskmanagers"]
    path = f"/taskmanagers/{manager['id']}/profiler"
    begun = served.client.ask("POST", path, {"duration": 1, "mode": "WALL"})
    assert begun["status"] == "RUNNING"
    dashboard.open(f"task-manager/{manager['id']}/profiler", "FINISHED")
    dashboard.sees("Profiling Successful")


def test_a_program_is_uploaded_submitted_and_deleted_by_the_buttons(
    dashboard: Dashboard, served: Served, tmp_path: Path
):
    program = tmp_path / "submitted.py"
    program.write_text(PLANNED.replace('"planned"', "sys.argv[1]").replace("from", "import sys\nfrom", 1))
    page = dashboard.page
    dashboard.open("submit", "Uploaded Jars")
    with page.expect_file_chooser() as chosen:
        page.get_by_text("Add New").click()
    chosen.value.set_files(program)
    row = page.get_by_role("row").filter(has_text="submitted.py")
    row.click()
    page.get_by_placeholder("Parallelism").locator("visible=true").fill("2")
    page.get_by_placeholder("Program Arguments").locator("visible=true").fill("by-a-button")
    page.get_by_role("button", name="Submit", exact=True).locator("visible=true").click()
    until(lambda: page.evaluate("() => location.hash").startswith("#/job/") or dashboard.refused)
    assert dashboard.refused == []
    dashboard.sees("by-a-button")

    def submitted() -> dict[str, Any] | None:
        jobs = served.ask("/jobs/overview")["jobs"]
        return next(
            (job for job in jobs if job["name"] == "by-a-button" and job["state"] == "FINISHED"), None
        )

    job = until(submitted)
    assert job is not None
    assert job["jid"] in page.url
    assert {vertex["parallelism"] for vertex in served.ask(f"/jobs/{job['jid']}")["vertices"]} >= {2}

    dashboard.open("submit", "submitted.py")
    row.get_by_text("Delete").click()
    page.locator(".ant-popover").get_by_role("button", name="OK").click()
    row.wait_for(state="detached")
    assert dashboard.refused == []
    assert "submitted.py" not in {file["name"] for file in served.ask("/programs")["files"]}


def test_a_program_is_planned_run_and_cancelled(dashboard: Dashboard, served: Served, tmp_path: Path):
    program = tmp_path / "planned.py"
    program.write_text(PLANNED)
    page = dashboard.page
    dashboard.open("submit", "Uploaded Jars")
    page.locator("input[type=file]").set_input_files(program)
    page.get_by_text("planned.py").first.click()
    page.get_by_role("button", name="Show Plan").locator("visible=true").click()
    dashboard.sees("REBALANCE")
    page.keyboard.press("Escape")

    job = served.jobs["words"]
    dashboard.open(f"job/running/{job}/overview", "Cancel Job")
    page.get_by_text("Cancel Job").first.click()
    page.get_by_role("button", name="Yes").click()
    until(lambda: served.status("words") == "CANCELED")
    dashboard.open("job/completed", "CANCELED")
    for name in ("overview", "exceptions", "timeline", "checkpoints", "configuration"):
        dashboard.open(f"job/completed/{job}/{name}", "CANCELED")
