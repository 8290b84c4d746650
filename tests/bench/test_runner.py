"""The runner: turns, what is kept at once, going on where it stopped; the page made from what is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import bench.__main__ as command
from bench.environments import ROOT
from bench.part import Case, Figures, Part, RunError
from bench.runner import Plan, Runner
from bench.source import source_hash
from bench.store import Store

MACHINE = {"processor": "abacus"}


class Bench:
    """A part with two cases that write down when they run; `trouble` is raised in the run with that number."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.ran: list[str] = []
        self.trouble: dict[int, BaseException] = {}

    def part(self) -> Part:
        cases = tuple(Case(name, self._case(name)) for name in ("old", "new"))
        return Part("speed", "Speed", cases, lambda runs: ["## Speed", "", f"{runs}"], "With care.")

    def _case(self, name: str) -> Callable[[float], dict[str, Figures]]:
        def run(scale: float) -> dict[str, Figures]:
            self.ran.append(name)
            if len(self.ran) in self.trouble:
                raise self.trouble[len(self.ran)]
            return {name: {"rate": 100 * len(self.ran), "scale": scale}}

        return run

    def measure(self, source: str = "one", **asked: object) -> Runner:
        runner = Runner(self.store, replace(Plan(MACHINE, lambda _: source), **asked))  # type: ignore[arg-type]
        runner.measure([self.part()])
        return runner

    def rates(self) -> dict[str, list[int]]:
        record = self.store.read("speed")
        assert record is not None
        return {title: [run["rate"] for run in runs] for title, runs in record.shown.runs.items()}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(Store(tmp_path))


def test_cases_take_turns(bench: Bench) -> None:
    bench.measure(runs=2)
    assert bench.ran == ["old", "new", "old", "new"]
    assert bench.rates() == {"old": [100, 300], "new": [200, 400]}


def test_a_part_says_how_often_its_cases_are_run(bench: Bench) -> None:
    bench.measure()
    assert bench.ran == ["old", "new"] * 3


def test_a_bench_that_was_interrupted_goes_on_where_it_stopped(bench: Bench) -> None:
    bench.trouble[4] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        bench.measure(runs=3)
    assert bench.rates() == {"old": [100, 300], "new": [200]}
    bench.measure(runs=3)
    assert bench.ran[4:] == ["new", "old", "new"]
    assert bench.rates() == {"old": [100, 300, 600], "new": [200, 500, 700]}


def test_what_is_known_is_not_measured_once_more_unless_it_is_forgotten(bench: Bench) -> None:
    bench.measure(runs=1)
    bench.measure(runs=1)
    assert bench.ran == ["old", "new"]
    bench.measure(runs=1, again=True)
    assert bench.rates() == {"old": [300], "new": [400]}


@pytest.mark.parametrize("change", [{"source": "two"}, {"machine": {"processor": "slide rule"}}])
def test_another_source_or_machine_is_measured_from_the_start(
    bench: Bench, change: dict[str, object]
) -> None:
    bench.measure(runs=2)
    bench.measure(runs=1, **change)
    assert bench.rates() == {"old": [500], "new": [600]}


def test_earlier_figures_stay_until_the_part_is_measured_anew(bench: Bench) -> None:
    bench.measure(runs=1)
    bench.trouble[4] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        bench.measure("two", runs=1)
    assert bench.rates() == {"old": [100], "new": [200]}
    bench.measure("two", runs=1)
    assert bench.rates() == {"old": [300], "new": [500]}
    assert bench.ran == ["old", "new", "old", "new", "new"]


def test_cases_run_by_the_words_that_their_names_begin_with(bench: Bench) -> None:
    bench.measure(only=("new",), runs=1)
    assert bench.ran == ["new"]
    bench.measure(only=("ne", "new case"), runs=1)
    assert bench.ran == ["new"]
    bench.measure(runs=1)
    assert bench.ran == ["new", "old"]
    assert bench.rates() == {"new": [100], "old": [200]}


def test_figures_of_another_source_stay_until_all_cases_have_run(bench: Bench) -> None:
    bench.measure(runs=1)
    bench.measure(source="two", only=("new",), runs=1)
    assert bench.rates() == {"old": [100], "new": [200]}
    bench.measure(source="two", runs=1)
    assert bench.rates() == {"new": [300], "old": [400]}


def test_a_run_that_fails_is_reported_and_the_others_go_on(bench: Bench) -> None:
    bench.trouble |= {1: RunError("counted wrongly"), 4: KeyError("surprise")}
    runner = bench.measure(runs=2)
    assert runner.failures == [
        "speed: old, run 1: counted wrongly",
        "speed: new, run 2: KeyError: 'surprise'",
    ]
    assert bench.rates() == {"new": [200], "old": [300]}
    assert bench.measure(runs=2).failures == []
    assert bench.rates() == {"new": [200, 600], "old": [300, 500]}


def test_how_long_it_takes_is_estimated(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.measure(runs=1)
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("speed: old, run 1: old: rate 100")
    assert "1 to go" in first
    assert "the last one" in last


def test_the_hash_of_a_source_depends_on_its_code_but_not_on_how_figures_are_shown(tmp_path: Path) -> None:
    for path in ("src/a.py", "bench/speed/job.py", "bench/speed/report.py", "bench/other.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1")
    before = source_hash(["bench/speed"], tmp_path)
    (tmp_path / "bench/other.py").write_text("2")
    (tmp_path / "bench/speed/report.py").write_text("2")
    assert source_hash(["bench/speed"], tmp_path) == before
    (tmp_path / "bench/speed/job.py").write_text("2")
    changed = source_hash(["bench/speed"], tmp_path)
    (tmp_path / "src/a.py").write_text("2")
    assert len({before, changed, source_hash(["bench/speed"], tmp_path)}) == 3


def test_a_look_at_a_small_scale_leaves_figures_and_page_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def store(directory: Path = tmp_path / "results") -> Store:
        return Store(directory)

    monkeypatch.setattr(command, "PARTS", (bench.part(),))
    monkeypatch.setattr(command, "Store", store)
    monkeypatch.setattr(command, "_source", lambda part: "one")
    monkeypatch.setattr(command, "describe", lambda: MACHINE)
    monkeypatch.setattr(command, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(command, "README", readme := tmp_path / "README.md")
    readme.write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert command.main(["--scale", "0.1", "--runs", "1"]) == 0
    assert list(tmp_path.iterdir()) == [readme]
    assert command.main(["--runs", "1"]) == 0
    assert (tmp_path / "results" / "speed.json").exists()
    assert (tmp_path / "docs" / "benchmarks.md").exists()


def test_a_part_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["speeed"])
    assert "no such part: speeed; there are map, " in capsys.readouterr().err
