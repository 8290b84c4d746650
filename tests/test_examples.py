"""The programs in examples/ do what they say (the access log has tests of its own)."""

from __future__ import annotations

import re
import runpy
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from textwrap import dedent, indent

import pytest
from typer.testing import CliRunner

from firesteel.cli.examples import programs
from firesteel.cli.main import app
from firesteel.testing import executing

RunPython = Callable[..., CompletedProcess[str]]

spark = (pytest.mark.spark, pytest.mark.xdist_group("spark"))


@pytest.mark.spark
def test_word_count(run_python: RunPython, project: Path) -> None:
    done = run_python(project / "examples" / "word_count.py")
    assert done.returncode == 0, done.stderr
    expected: list[str] = []
    seen: Counter[str] = Counter()
    for word in ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]:
        seen[word] += 1
        expected.append(f"({word},{seen[word]})")
    assert done.stdout.splitlines() == expected


@pytest.mark.spark
def test_sqlite_tables(run_python: RunPython, project: Path, tmp_path: Path) -> None:
    done = run_python(project / "examples" / "sqlite_tables.py", "shop.db")
    assert done.returncode == 0, done.stderr
    totals: Counter[str] = Counter()
    running = []
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        for customer, amount in database.execute("SELECT customer, amount FROM orders ORDER BY rowid"):
            totals[customer] += amount
            running.append((customer, totals[customer]))
        assert sorted(database.execute("SELECT customer, total FROM totals")) == sorted(running)
        assert database.execute("SELECT count(*) FROM totals_staged").fetchone() == (0,)
    assert done.stdout.splitlines() == [f"{customer} {total}" for customer, total in sorted(totals.items())]


@pytest.mark.spark
def test_earthquake_regions(run_python: RunPython, project: Path) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'firesteel[dev]'")
    done = run_python(project / "examples" / "earthquake_regions.py")
    assert done.returncode == 0, done.stderr
    cells = [line.strip("|").split("|") for line in done.stdout.splitlines() if line.startswith("|")][1:]
    regions = [[float(cell) for cell in line] for line in cells]
    assert [line[0] for line in regions] == [*range(8)]
    assert sum(line[2] + line[3] for line in regions) == 1313
    assert regions[0][1] < 0 < regions[-1][1]  # from the south to the north
    assert max(line[4] for line in regions) == 7.8


OUTPUT = {
    "async_enrichment": ["Ann ordered tea", "Bea ordered jam", "somebody ordered milk", "Ann ordered bread"],
    "broadcast_rules": [
        "Bea paid 501 in FR, where the limit is 500",
        "Dan paid 301 in DE, where the limit is 300",
    ],
    "expiring_state": ["order-1", "order-2", "order-3"],
    "late_data": [
        "too late> 3",
        "too late> 8",
        "window> from 0 s: [1, 4, 7]",
        "window> from 0 s: [1, 4]",
        "window> from 10 s: [11, 16]",
        "window> from 20 s: [26]",
        "window> from 30 s: [30]",
    ],
    "savepoint_and_upgrade": ["ann 4", "ann 7", "bea 11, thank you", "bea 9"],
    "sessions": [
        "2016-08-19 at -60 -40: 31 earthquakes, the strongest 7.4",
        "2016-08-31 at -40 +170: 29 earthquakes, the strongest 7.0",
    ],
    "side_outputs": [
        "orders> jam costs 4",
        "orders> tea costs 3",
        """unreadable> 'not json': JSONDecodeError""",
        """unreadable> '{"item": "milk"}': KeyError""",
    ],
    "state_and_timers": [
        "door has been silent since 30 s",
        "door is back at 160 s",
        "roof has been silent since 150 s",
        "door has been silent since 160 s",
    ],
}
"""What each example prints, whatever the order; a number of the subtask in front of a line is left out."""


@pytest.fixture(params=["process", pytest.param("spark", marks=spark)])
def printed_by(
    request: pytest.FixtureRequest,
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., list[str]]:
    """Runs an example in this process or on Spark, and returns the lines it prints."""

    def run(name: str, *arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        monkeypatch.chdir(tmp_path)
        with executing(request.param):
            runpy.run_path(str(project / "examples" / f"{name}.py"), run_name="__main__")
        return [re.sub(r"^\d+> ", "", line) for line in capsys.readouterr().out.splitlines()]

    return run


@pytest.mark.parametrize("name", sorted(OUTPUT))
def test_an_example_prints_what_it_says(printed_by: Callable[..., list[str]], name: str) -> None:
    arguments = ["shop"] if name == "savepoint_and_upgrade" else []
    assert sorted(printed_by(name, *arguments)) == sorted(OUTPUT[name])


def test_windows_add_up_to_the_data(printed_by: Callable[..., list[str]], project: Path) -> None:
    lines = printed_by("windows")
    quakes = (project / "examples" / "data" / "earthquakes.csv").read_text().splitlines()
    assert sum(int(line.split()[3]) for line in lines) == len(quakes)
    assert lines[0] == "week of 2015-12-31: 17 earthquakes, the strongest 6.7"
    strongest = max(float(quake.rpartition(",")[2]) for quake in quakes)
    assert max(float(line.rpartition(" ")[2]) for line in lines) == strongest


def test_aftershocks_are_those_of_a_loop_over_the_data(
    printed_by: Callable[..., list[str]], project: Path
) -> None:
    lines = (project / "examples" / "data" / "earthquakes.csv").read_text().splitlines()
    quakes = [(line.split(",")[0], *map(float, line.split(",")[1:])) for line in lines]
    moments = [datetime.strptime(quake[0], "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC) for quake in quakes]
    expected = []
    for place, (recorded, latitude, longitude, magnitude) in enumerate(quakes):
        if magnitude < 7:
            continue
        shocks = [
            str(other)
            for moment, (_, north, east, other) in zip(moments[place + 1 :], quakes[place + 1 :], strict=True)
            if moment - moments[place] < timedelta(days=3)
            and abs(north - latitude) < 1
            and abs(east - longitude) < 1
            and other < magnitude
        ]
        if len(shocks) >= 3:
            expected.append(f"{recorded}, {magnitude}: {', '.join(shocks[:3])} (Python, text, SQL)")
    assert len(expected) == 8
    assert printed_by("aftershocks") == expected


def test_the_page_shows_the_example_of_aftershocks(project: Path) -> None:
    program = (project / "examples" / "aftershocks.py").read_text()
    page = (project / "docs" / "cep.md").read_text()
    section = page.partition("## One pattern in three ways")[2].partition("\n## ")[0]
    shown = [dedent(block).strip() for block in re.findall(r"(?:^(?: {4}.*)?\n)+", section, re.MULTILINE)]
    parts = [part for block in shown for part in block.split("\n\n") if part]
    assert len(parts) == 4
    for part in parts:
        assert part in program or indent(part, " " * 4) in program


def test_the_example_of_tests_passes(run_python: RunPython, project: Path) -> None:
    done = run_python(
        "-m", "pytest", "-p", "no:cacheprovider", project / "examples" / "harness_tests.py", "-n0"
    )
    assert "7 passed" in done.stdout, done.stdout


def test_every_example_is_tested_and_listed(project: Path, run_python: RunPython) -> None:
    names = [program.stem for program in programs()]
    tested_elsewhere = {
        "access_log",
        "aftershocks",
        "earthquake_regions",
        "harness_tests",
        "sql_demo",
        "sqlite_tables",
        "windows",
        "word_count",
    }
    assert set(names) == {*OUTPUT, *tested_elsewhere}
    done = run_python("-m", "firesteel.cli", "examples")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == names


def test_a_copied_example_has_all_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = partial(CliRunner().invoke, app)
    for name in [program.stem for program in programs()]:
        done = examples(["examples", name, f"copies/{name}"])
        assert done.exit_code == 0, done.stderr
    assert (tmp_path / "copies/sessions/data/earthquakes.csv").is_file()
    assert (tmp_path / "copies/access_log/access_log_summary.py").is_file()
    again = examples(["examples", "windows", "copies/windows"])
    assert again.exit_code == 1
    assert again.stderr.startswith("error: examples does not overwrite; got copies/windows/windows.py")
    unknown = examples(["examples", "window"])
    assert unknown.exit_code == 1
    assert "window" in unknown.stderr
