"""The scale curves: their jobs at tiny sizes, and the section made from figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.scale.curves import BY_NAME, CURVES, Curve
from bench.scale.jobs import run
from bench.scale.part import LIMIT, PART, growth, render, seconds_by_size
from firesteel.testing import executing

TINY = {"records": 2000, "keys": 300, "windows": 1000, "timers": 500, "branches": 3}


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_the_job_of_each_curve_gives_the_right_result(curve: Curve, tmp_path: Path) -> None:
    small = curve.scaled(0.01)
    with executing(epoch_records=3000):
        seconds = run(small, TINY.get(curve.name, small.sizes[1]), tmp_path)
    assert seconds > 0


def test_a_wrong_result_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.tally.TallySink._add", lambda sink, tallies: sink.commits.append(0.0))
    with executing(), pytest.raises(ValueError, match="records, 1000: Outcome"):
        run(BY_NAME["records"], 1000, tmp_path)


@pytest.mark.thorough
@pytest.mark.spark
def test_a_curve_runs_in_a_process_of_its_own() -> None:
    case = next(case for case in PART.cases if case.name == "parallelism")
    points = case.run(0.005)["parallelism"]["points"]
    assert [size for size, _ in points] == [1, 2, 3, 4]
    assert all(0 < seconds < 600 for _, seconds in points)


def test_growth_is_per_doubling() -> None:
    assert growth((1_000, 2.0), (2_000, 4.0)) == pytest.approx(2)
    assert growth((1_000, 1.0), (8_000, 27.0)) == pytest.approx(3)
    assert growth((1, 5.0), (4, 5.0)) == pytest.approx(1)


def test_each_point_shows_the_median_of_its_runs() -> None:
    runs = [{"points": [[20, 3.0], [10, 2.0]]}, {"points": [[10, 9.0], [20, 4.0]]}, {"points": [[10, 1.0]]}]
    assert seconds_by_size(runs) == [(10, 2.0), (20, 3.5)]


def test_the_section_says_which_curves_grow_too_fast() -> None:
    runs = {
        "records": [{"points": [[1000, 1.0], [2000, 2.0], [4000, 4.0]]}],
        "timers": [{"points": [[1000, 1.0], [2000, LIMIT * 1.1], [8000, 5.0]]}],
    }
    text = "\n".join(render(runs))
    assert "| Records | 1,000 | 4,000 | 2.00 times | yes |" in text
    assert "| Timers | 1,000 | 8,000 | 2.31 times | no |" in text
    assert "| 2,000 | 2.00 | 2.00 | 1,000.0 |" in text
    assert "images/scale.png" in text


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    assert PART.plot is not None
    PART.plot({curve.name: [{"points": [[1, 1.0], [10, 3.0]]}] for curve in CURVES}, tmp_path / "images")
    assert (tmp_path / "images" / "scale.png").read_bytes().startswith(b"\x89PNG")
