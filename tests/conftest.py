"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import HealthCheck, settings

from firesteel.state.disk.copy import close_working_stores
from harness.mariadb import MariaDbServer
from harness.postgres import PostgresServer

collect_ignore_glob = ["oracle/programs/*", "oracle/timed/*", "*/ask.py", "*/ask_*.py", "*/flink/*"]
"""Programs that tests run, which importing would run, too, and questions to real Flink, which run beside it."""

PROJECT = Path(__file__).parents[1]

# Two workers and a JVM share the cores: how long one example takes says nothing.
for profile, examples in (("quick", 30), ("thorough", 200)):
    settings.register_profile(
        profile, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples
    )

UNTIL = "FIRESTEEL_TESTS_UNTIL"
LEFT_OUT = "left out: the time of --minutes is over"

RunPython = Callable[..., CompletedProcess[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run long tests, too, as ./run check does"
    parser.addoption("--long", action="store_true", help=text)
    text = "run every test in its widest form, which takes hours"
    parser.addoption("--thorough", action="store_true", help=text)
    text = "leave tests out that would begin after so many minutes, and say how many"
    parser.addoption("--minutes", type=float, help=text)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "quick")
    minutes = config.getoption("--minutes")
    if minutes is not None:
        os.environ.setdefault(
            UNTIL, str(time.time() + 60 * minutes)
        )  # workers have that of the first process
    # Spark's workers have the environment of the moment when Spark starts, whichever test that is.
    for server in (MariaDbServer, PostgresServer):
        os.environ.setdefault(server.PASSWORD_VARIABLE, secrets.token_urlsafe(24))


def pytest_collection(session: pytest.Session) -> None:
    """Let the collector of garbage wait: what is collected now stays, and it would look at all of it many times."""
    gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # If there is no time for all, it is long ones that are left out.
    items.sort(
        key=lambda item: bool(item.get_closest_marker("long")) and not item.get_closest_marker("xdist_group")
    )
    if config.getoption("--thorough"):
        return
    marks = ["thorough"] if config.getoption("--long") else ["long", "thorough"]
    left_out = [item for item in items if any(map(item.get_closest_marker, marks))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not any(map(item.get_closest_marker, marks))]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip(LEFT_OUT)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(LEFT_OUT in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{count} tests were {LEFT_OUT}", bold=True, yellow=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Set what was collected aside: to look through some million objects takes each collection of garbage seconds."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether a test takes its widest form."""
    return bool(request.config.getoption("--thorough"))


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root directory."""
    return PROJECT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of real event data beside the project; tests that need it skip where it is absent."""
    directory = PROJECT.parent / "shared" / "data"
    if not directory.is_dir():
        pytest.skip("no real event data beside the project (../shared/data)")
    return directory


@pytest.fixture(scope="module")
def working_copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A directory of a module's own for the working copies of its jobs, which no crash will touch."""
    directory = tmp_path_factory.mktemp("machine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_DIRS", str(directory))
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
        close_working_stores(directory)


@pytest.fixture
def replace_sleep(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[float], object]], None]:
    """Replaces `time.sleep` in the test's thread; other threads of the process, as py4j's, sleep as before."""
    sleep, here = time.sleep, threading.current_thread()

    def replace(pause: Callable[[float], object]) -> None:
        monkeypatch.setattr(
            time, "sleep", lambda seconds: (pause if threading.current_thread() is here else sleep)(seconds)
        )

    return replace


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs `python ARGUMENTS` in a process of its own, in the test's directory, and returns how it ended."""
    path = os.pathsep.join([str(PROJECT / "src"), *sys.path])

    def run(*arguments: object, **environment: str) -> CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path, **environment},
            cwd=tmp_path,
            check=False,
        )

    return run
