"""The SQL demo against the same figures, worked out once more in plain Python."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from firesteel.common.types import RowKind
from firesteel.sql.script import pieces
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing.execution import executing
from tests.rest.gateway.terminal import Terminal

RunPython = Callable[..., CompletedProcess[str]]
LINE = re.compile(r'(\S+) \S+ \S+ \[(\S+) \S+\] "(\S+) (\S+) \S+" (\d+) ')


@pytest.fixture
def log(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(project / "examples")
    import generate_access_log

    path = tmp_path / "access.log"
    generate_access_log.write(path, 3_000, seed=3)
    with path.open("a") as file:  # lines that are cut off, of which there are few in a log of this size
        file.write("10.0.0.83 - - [08/Mar/2024:11:41:2\n10.0.2.39 - - [\n10.0.0.83 - - \n")
    sys.modules.pop("generate_access_log")
    return path


def answers(project: Path, log: Path) -> list[list[Any]]:
    """Execute the demo's files and return the rows of its queries."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found = []
    for name in ("access_log.sql", "access_log_queries.sql"):
        text = (project / "examples" / name).read_text().replace("'LOG'", f"'{log}'")
        for piece in pieces(text):
            result = environment.execute_sql(piece.text)
            if piece.text.startswith("SELECT"):
                found.append(list(result.collect()))
    return found


@pytest.mark.parametrize(("parallelism", "epoch_records"), [(1, None), (2, 500)])
def test_the_queries_answer_what_the_log_says(
    project: Path, log: Path, parallelism: int, epoch_records: int | None
):
    with executing("process", parallelism=parallelism, epoch_records=epoch_records):
        pages, quarters, statuses = answers(project, log)
    requests = [match.groups() for match in map(LINE.match, log.read_text().splitlines()) if match]
    visitors: defaultdict[str, set[str]] = defaultdict(set)
    hits: Counter[str] = Counter()
    times: defaultdict[int, list[datetime]] = defaultdict(list)
    for visitor, clock, _, page, status in requests:
        hits[page] += 1
        visitors[page].add(visitor)
        times[int(status)].append(datetime.strptime(clock, "%d/%b/%Y:%H:%M:%S"))
    wanted = sorted(hits, key=lambda page: (-hits[page], page))[:5]
    assert [tuple(row) for row in pages] == [(page, hits[page], len(visitors[page])) for page in wanted]
    assert 0 < sum(row["requests"] for row in quarters) <= sum(hits.values())
    table: dict[int, tuple[int, datetime]] = {}
    for row in statuses:
        if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            table[row["status"]] = (row["requests"], row["latest"])
    assert {status: len(stamps) for status, stamps in times.items()} == {
        status: count for status, (count, _) in table.items() if status is not None
    }
    assert {status: max(stamps) for status, stamps in times.items()} == {
        status: latest for status, (_, latest) in table.items() if status is not None
    }


@pytest.mark.spark
def test_the_demo_runs(run_python: RunPython, project: Path, log: Path):
    done = run_python(project / "examples" / "sql_demo.py", log)
    assert done.returncode == 0, done.stderr
    assert "SELECT page, COUNT(*) AS requests" in done.stdout
    assert re.search(r"\|\s+/blog/page-0\.html\s+\|", done.stdout)
    assert done.stdout.count(" in set") == 3


@pytest.mark.spark
def test_ctrl_c_ends_the_live_query(project: Path, log: Path, tmp_path: Path):
    command = [str(project / "examples" / "sql_demo.py"), str(log)]
    with Terminal([sys.executable, *command], os.environ, rows=60, columns=120) as terminal:
        terminal.wait(lambda lines: any("Ctrl-C ends the query" in line for line in lines))
        terminal.type("\x03")
        shown = terminal.ended()
    assert re.fullmatch(r"\[INFO\] The query was cancelled: \d+ changes in all\.", shown[-1]), "\n".join(
        shown
    )
    assert not any("Traceback" in line for line in shown)
