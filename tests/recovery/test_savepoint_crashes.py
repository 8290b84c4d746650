"""A driver that dies at any step of a savepoint, or of beginning with one: both can be done again."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common.errors import StateError
from tests.recovery import pipeline
from tests.recovery.crashing import Crasher
from tests.recovery.upkeep import check_state, once, run, until_it_ends

pytestmark = pytest.mark.usefixtures("machine")

TAKING = [
    f"{when} {what}"
    for what in ("a copied run", "a savepoint's manifest", "savepoint.json")
    for when in ("before", "after")
]
BEGINNING = [
    f"{when} {what}" for what in ("job.json", "a copied run", "the manifest") for when in ("before", "after")
]


class Asking:
    """Asks for a savepoint after an epoch, of a job that goes on or that stops with it."""

    def __init__(self, target: Path, epoch: int, stops: bool) -> None:
        self.target, self.epoch, self.stops = str(target), epoch, stops
        self.answers: list = []

    def __call__(self, handle, stats):
        if stats.epoch >= self.epoch and (not self.answers or self.answers[-1][0] is not handle):
            answer = handle.stop(self.target) if self.stops else handle.savepoint(self.target)
            self.answers.append((handle, answer))

    @property
    def last(self) -> Storage:
        return Storage.existing(self.answers[-1][1].result(10))


def complete(target: Path) -> tuple[list[Path], list[Path]]:
    """The savepoints below a directory that are complete, and those that are not."""
    found = sorted(target.iterdir()) if target.is_dir() else []
    done = [path for path in found if open_savepoint(Storage.of(path)) is not None]
    return done, [path for path in found if path not in done]


@pytest.mark.parametrize("stops", [False, True], ids=["goes on", "stops"])
@pytest.mark.parametrize("what", TAKING)
def test_a_crash_at_each_step_of_a_savepoint(directory, what, stops):
    target = directory / "savepoints"
    asking = Asking(target, 4, stops)
    assert until_it_ends([what], lambda crasher: run(directory, 2, crasher, asking), most=3) == 3
    done, left = complete(target)
    assert (len(left) > 0) == (what != "after savepoint.json")
    for path in done:
        assert damage_of(Storage.of(path), open_savepoint(Storage.of(path)).epoch) is None
    for path in left[:3]:
        with pytest.raises(
            StateError, match=r"holds neither \(a savepoint that is not complete has no savepoint.json\)"
        ):
            run(directory, 2, state_dir=str(directory / "other"), restore_from=str(path))
    assert asking.last.url in {str(path) for path in done}
    if stops:
        run(directory, 3, state_dir=str(directory / "other"), restore_from=asking.last.url)
    assert pipeline.output(directory) == pipeline.expected()
    check_state(directory / "state")


@pytest.mark.parametrize("what", BEGINNING)
def test_a_crash_at_each_step_of_beginning_with_a_savepoint(directory, what):
    asking = Asking(directory / "savepoints", 6, stops=True)
    run(directory, 2, act=asking)
    (directory / "state").rename(directory / "gone")
    begin = {"state_dir": str(directory / "other"), "restore_from": asking.last.url}
    struck: set = set()
    while True:
        crasher = once([what], struck)
        crasher.epoch = 0
        run(directory, 3, crasher, **begin)
        if crasher.crashed is None:
            break
        if "copied" in what or what == "after job.json":
            with pytest.raises(
                StateError, match="was to start from a savepoint, but did not finish taking it over"
            ):
                run(directory, 3, state_dir=str(directory / "other"))
    assert len(struck) >= (4 if "copied" in what or "manifest" in what else 1)
    assert pipeline.output(directory) == pipeline.expected()
    check_state(directory / "other")


def test_every_step_of_a_savepoint_is_known(directory):
    asking = Asking(directory / "savepoints", 4, stops=True)
    crasher = run(directory, 2, act=asking)
    assert {what for _, what in crasher.points} >= set(TAKING)
    crasher = Crasher()
    run(directory, 1, crasher, state_dir=str(directory / "other"), restore_from=asking.last.url)
    assert {what for _, what in crasher.points} >= {"before job.json", "after a copied run"}
    assert pipeline.output(directory) == pipeline.expected()
