"""Two drivers on one state directory: one goes on, the other ends, and every row is put out once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import FencedError
from tests.recovery import pipeline
from tests.recovery.crashing import Crasher

UNCOMMITTED = [
    "after planning",
    "before task 0.0",
    "writing rows",
    "after writing a run of 0",
    "before the manifest",
]
COMMITTED = [
    "after the manifest",
    "before booking",
    "after booking",
    "before a part file",
    "after a part file",
]


class Rival:
    """Runs a second driver at a point of the first one, up to a point of its own (None: to the job's end)."""

    def __init__(self, directory: Path, at: object, machine: str, up_to: int | None = None) -> None:
        self.directory, self.at, self.machine, self.up_to = directory, at, machine, up_to
        self.ran = False
        self.last = 0

    def __call__(self, count: int, point: tuple[int, str]) -> bool:
        if self.ran or self.at not in (count, point, point[1]):
            return False
        self.ran = True
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SPARK_LOCAL_DIRS", str(self.directory / "machines" / self.machine))
            rival = pipeline.run(self.directory, 1, Crasher(lambda count, point: count == self.up_to))
        self.last = max((epoch for epoch, what in rival.points if what == "after the manifest"), default=0)
        return False


def first_driver(directory: Path, rival: Rival) -> bool:
    """Run the driver whose rival that is; answer whether it was fenced off."""
    try:
        pipeline.run(directory, 1, Crasher(rival))
    except FencedError:
        return True
    return False


@pytest.mark.parametrize("machine_of_rival", ["first", "second"])
@pytest.mark.parametrize("what", UNCOMMITTED)
def test_a_driver_that_was_overtaken_ends(directory, what, machine_of_rival):
    rival = Rival(directory, (2, what), machine_of_rival)
    assert first_driver(directory, rival)
    assert rival.ran
    assert pipeline.output(directory) == pipeline.expected()


@pytest.mark.parametrize("what", [*COMMITTED, "before joining segments", "after joining segments"])
def test_what_both_publish_is_there_once(directory, what):
    rival = Rival(directory, what, "second")
    first_driver(directory, rival)
    assert rival.ran
    assert pipeline.output(directory) == pipeline.expected()


@settings(max_examples=25)
@given(st.integers(1, 90), st.integers(1, 90), st.sampled_from(["first", "second"]))
def test_however_two_drivers_meet(at, up_to, machine_of_rival):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        directory = Path(name)
        patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/first")
        with pipeline.made(directory):
            rival = Rival(directory, at, machine_of_rival, up_to)
            fenced = first_driver(directory, rival)
            assert rival.last or not fenced  # a rival that committed nothing is in nobody's way
            pipeline.run(directory, 1)
            assert pipeline.output(directory) == pipeline.expected()
