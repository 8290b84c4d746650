"""The demo program against the same figures, worked out once more in plain Python."""

from __future__ import annotations

import gzip
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pytest

RunPython = Callable[..., CompletedProcess[str]]

GAP = timedelta(minutes=30)
BURST = timedelta(minutes=1)


@dataclass
class Expected:
    """What the four results must hold, as sorted lines."""

    hits_per_page: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    bursts: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)


def iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(line: str) -> tuple[datetime, str, str, int, int] | None:
    """(time, visitor, page, status, size) of a line, by cutting it at its quotes; None if it is malformed."""
    pieces = line.split('"')
    if len(pieces) < 7 or pieces[-1]:
        return None
    visitor, _, _, day_and_time, zone = pieces[0].split()
    time = datetime.strptime(f"{day_and_time} {zone}", "[%d/%b/%Y:%H:%M:%S %z]").astimezone(UTC)
    status, size = pieces[2].split()
    page = pieces[1].split()[1].split("?")[0]
    return time, visitor, page, int(status), int(size) if size != "-" else 0


def work_out(log: Path) -> Expected:
    """All results, from the whole log in memory, in order of time."""
    expected = Expected()
    hours: Counter[tuple[datetime, str]] = Counter()
    sent: Counter[tuple[datetime, str]] = Counter()
    hits: dict[str, list[datetime]] = defaultdict(list)
    errors: dict[str, list[datetime]] = defaultdict(list)
    with gzip.open(log, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            record = parse(line.rstrip("\n"))
            if record is None:
                expected.malformed.append(line.rstrip("\n"))
                continue
            time, visitor, page, status, size = record
            hour = time.replace(minute=0, second=0), page
            hours[hour] += 1
            sent[hour] += size
            hits[visitor].append(time)
            if status >= 400:
                errors[visitor].append(time)
    for (hour_start, page), count in hours.items():
        quoted = f'"{page}"' if "," in page else page
        expected.hits_per_page.append(f"{iso(hour_start)},{quoted},{count},{sent[hour_start, page]}")
    for visitor, times in hits.items():
        times.sort()
        begins = [0] + [i for i in range(1, len(times)) if times[i] - times[i - 1] > GAP] + [len(times)]
        for first, end in pairwise(begins):
            expected.sessions.append(f"{visitor},{iso(times[first])},{iso(times[end - 1])},{end - first}")
    for visitor, times in errors.items():
        times.sort()
        while times:
            burst = [time for time in times if time < times[0] + BURST]
            if len(burst) >= 3:
                expected.bursts.append(f"{visitor},{iso(burst[0])},{iso(burst[-1])},{len(burst)}")
            times = times[len(burst) :]
    return expected


def run_demo(run_python: RunPython, project: Path, *arguments: object) -> str:
    done = run_python(project / "examples" / "access_log.py", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(output: Path, result: str) -> list[str]:
    """The lines of a result's committed files."""
    return sorted(
        line
        for path in (output / result).glob("[!.]*")
        for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    )


def check(output: Path, expected: Expected) -> None:
    assert written(output, "hits_per_page") == sorted(expected.hits_per_page)
    assert written(output, "sessions") == sorted(expected.sessions)
    assert written(output, "bursts") == sorted(expected.bursts)
    assert written(output, "malformed") == sorted(expected.malformed)
    assert written(output, "late") == []


@pytest.mark.spark
@pytest.mark.long
def test_a_real_log(run_python: RunPython, project: Path, shared_data: Path, tmp_path: Path) -> None:
    log = shared_data / "access_log.gz"
    printed = run_demo(run_python, project, log, "--output", tmp_path / "results")
    expected = work_out(log)
    assert (len(expected.malformed), len(expected.bursts)) == (1, 10)
    check(tmp_path / "results", expected)
    assert printed.lstrip().startswith("10,000 lines in ")
    assert f"{len(expected.sessions):,}  in all, of 1,753 visitors" in printed


@pytest.mark.spark
def test_a_generated_log(run_python: RunPython, project: Path, tmp_path: Path) -> None:
    printed = run_demo(run_python, project, "--lines", 20_000, "--output", tmp_path)
    expected = work_out(tmp_path / "generated_access_log.gz")
    assert expected.bursts
    assert expected.malformed
    check(tmp_path, expected)
    assert "Busiest hour" in printed


def test_results_never_mix(run_python: RunPython, project: Path, tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    done = run_python(project / "examples" / "access_log.py", "--output", tmp_path)
    assert done.returncode == 1
    assert "is not empty" in done.stderr


def test_the_generated_log_is_reproducible_and_out_of_order(project: Path, tmp_path: Path) -> None:
    sys.path.insert(0, str(project / "examples"))
    import generate_access_log

    first, second = tmp_path / "first.gz", tmp_path / "second.gz"
    generate_access_log.write(first, 5_000, seed=3)
    generate_access_log.write(second, 5_000, seed=3)
    assert first.read_bytes() == second.read_bytes()
    with gzip.open(first, "rt") as file:
        times = [record[0] for record in map(parse, (line.rstrip("\n") for line in file)) if record]
    behind, latest = timedelta(0), times[0]
    for time in times:
        latest = max(latest, time)
        behind = max(behind, latest - time)
    assert timedelta(seconds=45) < behind < timedelta(seconds=60)
