"""Runs that are fetched ahead: several at a time, within bounds, and with the outcome of fetching one by one."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from firesteel.checkpoint import fetching
from firesteel.checkpoint.fetching import AT_ONCE, fetching_ahead
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import catch_up
from firesteel.checkpoint.runs import read_run, write_run
from firesteel.common.errors import StateCorruptedError
from firesteel.state.disk.copy import close_working_stores, open_working_store
from firesteel.state.live.durable import RunRef
from tests.checkpoint.histories import GROUPS, Driver, read_copy, read_whole

WAIT = 20
EPOCHS = 3 * AT_ONCE


class Distant(Storage):
    """A directory that is taken for an object store; a run is not answered before `together` of them are asked for."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.together = threading.Barrier(1)
        self.lock = threading.Lock()
        self.asked: list[str] = []
        self.under_way = self.most = 0

    @property
    def is_local(self):
        return False

    def get(self, path):
        if not path.startswith("runs/"):
            return super().get(path)
        with self.lock:
            self.asked.append(path)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        self.together.wait(WAIT)
        data = super().get(path)
        with self.lock:
            self.under_way -= 1
        return data


@pytest.fixture
def distant(tmp_path: Path) -> Distant:
    return Distant.of(tmp_path / "state")


def write(storage: Storage, count: int) -> list[RunRef]:
    runs = [
        write_run(storage, f"runs/op/{number}.run", [(b"\0\0\0\0%d" % number, b"x" * 1000)],
                  epoch=1, operator="op", subtask=0, first_group=0, last_group=GROUPS - 1)
        for number in range(count)
    ]  # fmt: skip
    return [run for run in runs if run is not None]


def test_as_many_as_allowed_are_under_way_at_once(distant):
    runs = write(distant, EPOCHS)
    distant.together = threading.Barrier(AT_ONCE)  # none is answered unless so many are asked for
    with fetching_ahead(distant, runs) as ahead:
        found = [next(iter(read_run(ahead, run)))[0] for run in runs]
    assert found == [b"\0\0\0\0%d" % number for number in range(EPOCHS)]
    assert distant.most == AT_ONCE
    assert sorted(distant.asked) == sorted(run.path for run in runs)


def test_no_more_bytes_than_allowed_are_fetched_before_they_are_used(distant, monkeypatch):
    runs = write(distant, 10)
    monkeypatch.setattr(fetching, "AHEAD_BYTES", 3 * max(run.size for run in runs))
    with fetching_ahead(distant, runs) as ahead:
        for used, run in enumerate(runs):
            assert len(distant.asked) <= used + 3
            assert list(read_run(ahead, run))
    assert len(distant.asked) == 10


def test_a_run_that_is_too_large_to_wait_is_fetched_when_it_is_asked_for(distant, monkeypatch):
    runs = write(distant, 3)
    monkeypatch.setattr(fetching, "AHEAD_BYTES", min(run.size for run in runs) - 1)
    with fetching_ahead(distant, runs) as ahead:
        assert distant.asked == []
        for used, run in enumerate(runs, 1):
            assert list(read_run(ahead, run))
            assert len(distant.asked) == used


def test_a_run_can_be_read_again(distant):
    runs = write(distant, 3)
    with fetching_ahead(distant, runs) as ahead:
        assert list(read_run(ahead, runs[0])) == list(read_run(ahead, runs[0]))
    assert distant.asked.count(runs[0].path) == 2


def test_a_disk_is_asked_as_always(tmp_path):
    storage = Storage.of(tmp_path)
    with fetching_ahead(storage, write(storage, 3)) as ahead:
        assert ahead is storage


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    """Of a job in the same directory, with an epoch's run of each of its epochs."""
    driver = Driver(Storage.of(tmp_path / "state"), ["a"])
    for epoch in range(1, EPOCHS + 1):
        driver.commit({"a": {(0, epoch % GROUPS, epoch % 5): b"%d" % epoch, (0, 0, 9): b"%d" % epoch}})
    return driver


def test_a_copy_that_catches_up_holds_what_was_committed(driver, distant, tmp_path):
    distant.together = threading.Barrier(AT_ONCE)
    assert read_copy(distant, "a", [EPOCHS], range(GROUPS)) == [driver.models[EPOCHS]["a"]]
    assert distant.most == AT_ONCE
    assert len(distant.asked) == EPOCHS


def test_what_is_merged_is_fetched_ahead_too(driver, distant):
    distant.together = threading.Barrier(AT_ONCE)
    assert read_whole(distant, "a", EPOCHS) == driver.models[EPOCHS]["a"]


@pytest.mark.parametrize("harm", ["damaged", "removed"])
def test_a_copy_gets_as_far_as_the_run_that_cannot_be_read(driver, distant, tmp_path, harm):
    [layer] = driver.log.layers("a", 4, 5)
    if harm == "damaged":
        distant.put(layer.runs[0].path, b"damaged")
    else:
        distant.delete(layer.runs[0].path)
    store = open_working_store(tmp_path / "copy", "copy", 0, GROUPS - 1)
    with pytest.raises(StateCorruptedError, match=layer.runs[0].path):
        catch_up(store, distant, "a", (0, GROUPS - 1), EPOCHS, None)
    assert store.version == 4
    close_working_stores(tmp_path)
