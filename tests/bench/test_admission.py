"""The benchmark of loads that change: what comes when, what is made of epochs, and the section with its pictures."""

from __future__ import annotations

import time

import pytest

from bench.admission.load import FIRST, PacedSource, came_at, offered
from bench.admission.part import PART
from bench.admission.program import ChangingSink, Neighbours, curves
from bench.admission.scenarios import BY_NAME, SCENARIOS, key_of
from firesteel.functions.source import DiscoveryContext

PIECES = [(2.0, 100.0), (1.0, 1000.0), (1.0, 0.0), (2.0, 10.0)]


def test_a_record_comes_when_it_is_offered():
    total = offered(PIECES, 6.0)
    assert total == FIRST + 200 + 1000 + 20
    for index in range(FIRST, total):
        at = came_at(PIECES, index)
        assert offered(PIECES, at + 1e-6) > index
        assert offered(PIECES, at - 1e-3) <= index


def test_a_paced_source_offers_a_few_records_until_they_are_read(tmp_path):
    source = PacedSource(lambda index: (index, index), PIECES, tmp_path / "started")
    splits = list(source.discover(DiscoveryContext(frozenset(), 2, 0)))
    assert [source.available(split, 0, 0) for split in splits] == [FIRST // 2, FIRST // 2]
    assert not (tmp_path / "started").exists()
    assert source.available(splits[0], FIRST // 2, 0) >= FIRST // 2
    assert (tmp_path / "started").exists()
    read = [batch for split in splits for batch in source.read(split, 0, split.end)]
    assert sorted(value for batch in read for value, _ in batch) == list(range(offered(PIECES, 6.0)))


def test_ninety_percent_are_on_the_hot_key():
    key = key_of(1000)
    assert sum(key(index) == 0 for index in range(1000)) == 1
    assert sum(key(index) == 0 for index in range(1000, 2000)) == 900


def figures(scenario):
    """Figures of a made-up run: epochs of half a second that keep up until the load changes."""
    pieces = scenario.at(10_000, 1.0)
    began, epochs, read = 1000.0, [(999.0, 4000.0, FIRST)], FIRST
    for step in range(1, 60):
        records = min(offered(pieces, step / 2), read + 6000) - read
        epochs.append((began + step / 2, 400.0, records))
        read += records
    memory = [(began + step / 4, (300 + step) << 20) for step in range(100)]
    made = curves(epochs, memory, pieces, began, scenario.change)
    return {"capacity": 10_000, "records": read, "change": list(scenario.change)} | made


def test_figures_of_a_burst_tell_the_backlog_and_when_it_was_gone():
    run = figures(BY_NAME["burst"])
    assert run["largest_backlog"] == pytest.approx(4 * 25_000 - 8 * 6000, abs=7000)
    assert run["loaded_ms"] == run["longest_ms"] == 400.0
    assert 2 < run["caught_up_seconds"] < 8
    assert run["peak_memory"] == 399 << 20
    assert max(map(len, (run["epoch_ms"], run["memory_bytes"]))) <= 160


def test_the_section_shows_a_row_and_a_picture_of_each_scenario(tmp_path):
    runs = {scenario.name: [figures(scenario)] * 3 for scenario in SCENARIOS}
    assert PART.plot is not None
    PART.plot(runs, tmp_path)
    page = "\n".join(PART.render(runs))
    for scenario in SCENARIOS:
        assert f"| {scenario.title} | 10,000 |" in page
        assert f"(images/admission-{scenario.name}.png)" in page
        assert (tmp_path / f"admission-{scenario.name}.png").read_bytes().startswith(b"\x89PNG")


def test_neighbours_work_while_the_clock_is_within_the_change(tmp_path):
    clock = tmp_path / "started"
    neighbours = Neighbours(2, (5.0, 10.0), clock)
    try:
        neighbours.look()
        assert neighbours.running == 0
        clock.write_text(repr(time.time() - 7.0))
        neighbours.look()
        neighbours.look()
        assert neighbours.running == 2
        clock.write_text(repr(time.time() - 11.0))
        neighbours.look()
        assert neighbours.running == 0
    finally:
        neighbours.end()


def test_a_far_sink_waits_for_each_commit_and_for_no_record(tmp_path, replace_sleep):
    clock, waited = tmp_path / "started", []
    replace_sleep(waited.append)
    sink = ChangingSink(BY_NAME["slow-floor"], (0.0, 60.0), clock)
    sink.create_committer().commit([(1, 1)])
    clock.write_text(repr(time.time() - 1.0))
    writer = sink.create_writer(None)
    writer.write([(1, 1)], None)
    sink.create_committer().commit(writer.prepare_commit())
    assert waited == [3.0]
    assert sink.results == 2


@pytest.mark.thorough
@pytest.mark.spark
def test_a_scenario_runs_and_its_results_are_right():
    case = next(case for case in PART.cases if case.name == "hot-key")
    [(name, run)] = case.run(0.05).items()
    assert name == "hot-key"
    assert run["records"] > FIRST
    assert sum(run["epoch_records"]) <= run["records"]
    assert run["peak_memory"] > 0
