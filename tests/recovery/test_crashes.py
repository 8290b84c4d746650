"""A driver that dies at any point of an epoch, and one that goes on after it: no row is lost, none comes twice."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recovery import pipeline
from tests.recovery.crashing import Crasher

pytestmark = pytest.mark.usefixtures("machine")

AROUND = (
    "planning",
    "the manifest",
    "booking",
    "a part file",
    "joining segments",
    "noting what is published",
)
ONE = ("task 0.0", "writing a run of 0")
TWO = ("task 0.0", "task 0.1", "task 1.0", "task 1.1", "writing a run of 0", "writing a run of 1")
POINTS = {
    parallelism: [
        "writing rows",
        *(f"{when} {what}" for what in (*AROUND, *own) for when in ("before", "after")),
    ]
    for parallelism, own in ((1, ONE), (2, TWO))
}


@pytest.mark.parametrize("parallelism", [1, 2])
def test_every_point_of_an_epoch_is_known(directory, parallelism):
    crasher = pipeline.run(directory, parallelism)
    assert pipeline.output(directory) == pipeline.expected()
    assert {what for _, what in crasher.points} == set(POINTS[parallelism])
    assert {epoch for epoch, _ in crasher.points} >= {1, 2, 3}


@pytest.mark.parametrize(
    ("parallelism", "what"), [(parallelism, what) for parallelism in (1, 2) for what in POINTS[parallelism]]
)
def test_a_crash_at_one_point_of_each_epoch(directory, parallelism, what):
    struck = set()
    while True:
        crasher = pipeline.run(
            directory, parallelism, Crasher(lambda count, point: point[1] == what and point not in struck)
        )
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert struck
    assert pipeline.output(directory) == pipeline.expected()


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(1, 120), st.booleans(), st.integers(1, 2)), min_size=1, max_size=6),
    st.integers(3, 40),
)
def test_crashes_at_any_points_on_any_machines_at_changing_parallelism(crashes, epoch_records):
    with (
        tempfile.TemporaryDirectory() as name,
        pipeline.made(Path(name)),
        pytest.MonkeyPatch.context() as patch,
    ):
        directory = Path(name)
        patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/0")
        for number, (dies_at, moves, parallelism) in enumerate(crashes):
            if moves:
                patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/{number}")
            crasher = Crasher(lambda count, point, last=dies_at: count == last)
            pipeline.run(directory, parallelism, crasher, epoch_records)
        pipeline.run(directory, 2, epoch_records=epoch_records)
        assert pipeline.output(directory) == pipeline.expected()
