"""The page made from figures that are made up."""

from __future__ import annotations

from bench.page import render
from bench.registry import GROUPS, PARTS, group_of
from bench.store import Record

MACHINE = {"processor": "abacus"}
RATES = {"Firesteel": [{"rate": rate, "records": 10, "curve": [1, 2]} for rate in (1_600_000, 1_400_000)]}


def record(measured: str = "2026-11-21T15:00:00+00:00", **more: object) -> Record:
    return Record(MACHINE, "0123456789ab", measured, {"firesteel": 2}, RATES, **more)  # type: ignore[arg-type]


def test_the_page_has_a_summary_sections_the_machine_and_raw_figures() -> None:
    page = render({"map": record()})
    order = [
        "| map over tuples | 1,500,000/s | 1,500,000/s |",
        "## Throughput: map",
        "## The machine",
        "## Each run",
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "Measured at 2026-11-21 15:00 UTC, source `0123456789ab`, 2 runs each." in page
    assert "| Firesteel | 1,600,000 · 1,400,000 | 10 |" in page
    assert "curve" not in page
    assert "| processor | abacus |" in page


def test_parts_that_were_not_measured_are_not_on_the_page() -> None:
    page = render({"map": record()})
    assert "## Recovery" not in page
    assert "sliding" not in page


def test_the_page_shows_earlier_figures_until_a_part_is_measured_anew() -> None:
    new = Record(MACHINE, "new", "2026-11-21T16:00:00+00:00", {"firesteel": 1}, {"Firesteel": [{"rate": 1}]})
    new.earlier = record()
    assert "source `0123456789ab`" in render({"map": new})


def test_machines_that_differ_are_all_described() -> None:
    other = Record({"processor": "slide rule"}, "x", "2026-11-21T16:00:00+00:00", {}, RATES)
    page = render({"map": record(), "reduce": other})
    assert "abacus" in page
    assert "slide rule" in page


def test_names_of_parts_and_of_their_cases_are_unique() -> None:
    names = [part.name for part in PARTS]
    assert len(set(names)) == len(names)
    for part in PARTS:
        cases = [case.name for case in part.cases]
        assert len(set(cases)) == len(cases)
        assert group_of(part) in GROUPS
