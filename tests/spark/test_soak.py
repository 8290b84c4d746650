"""A short form of the soak (`./run soak`), and how it judges what was measured."""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from firesteel.control.listeners import EpochStats
from soak.__main__ import report
from soak.drift import Limit, judged, slope, thinned
from soak.measures import ALONE, BESIDE, LIMITS, Epochs, Sampler, Series, Work, cpu_s, descendants
from soak.program import LIVES_MS, RATE, record
from soak.run import Outcome, _warm_up_s

ROOT = Path(__file__).resolve().parents[2]
STRICT = {
    "descriptors, driver and JVM",
    "descriptors of the workers",
    "processes",
}
"""What a short form tells: memory, disk, manifests and CPU time need longer to come to rest, and so does the number of
threads, which the pools of the JVM keep for a minute after their last use."""


@pytest.mark.spark
@pytest.mark.xdist_group("spark-soak")
@pytest.mark.timeout(900)
@pytest.mark.long
def test_a_short_run_leaves_nothing_behind(tmp_path: Path) -> None:
    """In a process of its own: what other tests keep there would be measured, too."""
    picture = tmp_path / "soak.png"
    # A minute, or longer, until enough has happened.
    command = [sys.executable, "-m", "soak", "--minutes", "1", "--picture", str(picture)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    counted = re.search(r"(\d+) short jobs, (\d+) files in, (\d+) lines out", ended.stdout)
    assert counted is not None, ended.stderr  # it may fail for what a short run does not tell
    drifting = {limit.name for limit in LIMITS if drifts(limit, ended.stdout)}
    assert STRICT.isdisjoint(drifting), ended.stdout
    assert all(int(count) > 3 for count in counted.groups())
    assert picture.read_bytes().startswith(b"\x89PNG")


def drifts(limit: Limit, printed: str) -> bool:
    """What a printed report says of a quantity."""
    [line] = [line for line in printed.splitlines() if line.startswith(limit.name.ljust(28))]
    return line.endswith("DRIFTS")


def test_a_report_says_what_drifts_and_decides_the_exit_code() -> None:
    series = Series()
    steady, growing = Limit("steady", 0.1, 1.0), Limit("growing", 0.1, 1.0)
    verdicts = [
        judged(steady, [(float(at), 100.0) for at in range(50)], 10),
        judged(growing, [(float(at), 100.0 + at) for at in range(50)], 10),
    ]
    outcome = Outcome(series, verdicts, 7, 8, 9, 10.0)
    assert outcome.drifting == ["growing"]
    assert not drifts(steady, report(outcome))
    assert drifts(growing, report(outcome))


def noisy(grows_by: float) -> list[tuple[float, float]]:
    rng = random.Random(7)
    return [
        (at, 100 + grows_by * at / 1000 + rng.uniform(-5, 5) + 300 * (at % 97 == 0)) for at in range(1000)
    ]


@pytest.mark.parametrize(("grows_by", "drifts"), [(0, False), (5, False), (40, True), (-60, False)])
def test_a_drift_is_found_under_noise_and_outliers(grows_by: float, drifts: bool) -> None:
    verdict = judged(Limit("things", 0.1, 5.0), noisy(grows_by), 200)
    assert verdict.drifts is drifts
    assert verdict.growth == pytest.approx(grows_by * 0.8, abs=4)


def test_what_is_before_the_warm_up_does_not_count() -> None:
    series = [(float(at), min(at, 120) * 10.0) for at in range(200)]
    assert judged(Limit("things", 0.01, 0.0), series, 0).drifts
    assert not judged(Limit("things", 0.01, 0.0), series, 125).drifts
    with pytest.raises(ValueError, match="too few"):
        judged(Limit("things", 0.1, 0.0), series, 198)


def test_the_warm_up_lasts_until_enough_has_happened() -> None:
    series = Series()
    assert _warm_up_s(series, 100.0) == float("inf")
    series.values["epoch"] = [(float(at), 100.0) for at in range(100)]
    series.values["short job"] = [(10.0 * at, 100.0) for at in range(12)]
    assert _warm_up_s(series, 100.0) == 110.0
    assert _warm_up_s(series, 1000.0) == 400.0


class Machine:
    """Epochs of a long job and the CPU time that they and short jobs take: 2 s and 5 s."""

    def __init__(self) -> None:
        self.series = Series()
        self.epochs = Epochs(self.series)
        self.cpu_s = 0.0
        self.work = Work(self.series, self.epochs, lambda: self.cpu_s)

    def epoch(self, records: int = 1) -> None:
        self.cpu_s += 2.0
        self.epochs.on_epoch(EpochStats(1, records, 0, 70_000.0, None, None, False))

    def short_job(self) -> None:
        self.cpu_s += 5.0
        self.epoch()


def test_cpu_time_is_per_epoch_however_long_it_takes(monkeypatch) -> None:
    machine = Machine()
    monkeypatch.setattr(machine.epochs, "wait_for", lambda more: [machine.epoch() for _ in range(more)])
    for _ in range(3):
        machine.work.note(ALONE, lambda: None, 4)
        machine.work.note(BESIDE, machine.short_job, 1)
    values = {name: [value for _, value in found] for name, found in machine.series.values.items()}
    assert values[ALONE] == [2000.0] * 3
    assert values[BESIDE] == [4500.0] * 3
    assert set(values["epoch"]) == {70_000.0}


def test_waiting_ends_with_the_epoch(monkeypatch) -> None:
    machine = Machine()
    with ThreadPoolExecutor(1) as pool:
        waited = pool.submit(machine.epochs.wait_for, 2)
        while not waited.done():
            machine.epoch(records=0)
            machine.epoch()
    assert machine.epochs.count >= 2
    monkeypatch.setattr("soak.measures._NO_EPOCH_S", 0.0)
    with pytest.raises(TimeoutError, match="1 epochs took longer"):
        machine.epochs.wait_for(1)


def test_the_cpu_time_of_processes_that_have_ended_counts() -> None:
    before = cpu_s()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert cpu_s() > before


def test_a_time_on_the_clock_is_shown_and_not_judged() -> None:
    verdict = judged(Limit("time", math.inf, 0.0), [(float(at), 1.0 + at) for at in range(50)], 10)
    assert not verdict.drifts
    assert str(verdict).endswith("not judged")


def test_many_points_become_few_that_have_the_same_slope() -> None:
    points = [(float(at), 3.0 * at) for at in range(5000)]
    assert len(thinned(points)) <= 120
    assert slope(thinned(points)) == pytest.approx(3.0)


def test_keys_come_for_a_while_and_never_again() -> None:
    keys = [record(index) for index in range(RATE * 30)]
    last: dict[int, int] = {}
    first: dict[int, int] = {}
    for key, at in keys:
        first.setdefault(key, at)
        last[key] = at
    assert max(last[key] - first[key] for key in first) <= LIVES_MS
    assert len(first) > 1000


def test_a_sample_has_every_quantity_that_is_not_a_time(tmp_path: Path) -> None:
    state, copies = tmp_path / "state", tmp_path / "copies"
    for directory in (state / "manifests", copies):
        directory.mkdir(parents=True)
    (state / "manifests" / "000000000001").write_bytes(b"x" * 5000)
    (copies / "data.mdb").write_bytes(b"x" * 9000)
    series = Series()
    sampler = Sampler(series, state, copies)
    sampler.look()
    timed = {"epoch", "short job", ALONE, BESIDE}
    assert set(series.values) == {limit.name for limit in LIMITS} - timed
    assert series.values["manifest"][0][1] == 5000
    assert series.values["working copies"][0][1] >= 9000
    assert sampler.cpu_s > 0
    assert series.values["processes"][0][1] == 1 + len(descendants(os.getpid()))
