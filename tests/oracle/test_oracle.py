"""Firesteel prints what real Flink printed, for every oracle program and for PyFlink's own shipped examples.

The expectations in `expected/` were recorded from PyFlink by record.py. PyFlink's examples are no part of this project:
they run where $FIRESTEEL_PYFLINK_EXAMPLES names the `examples` directory of an installed PyFlink, or where the
benchmarks have installed one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from firesteel.cli.program import Program, run_job
from firesteel.datastream.ambient import Ambient
from firesteel.testing import executing
from tests.oracle.outputs import (
    EXAMPLES,
    PROGRAMS,
    Comparison,
    comparison_of,
    expected_of,
    programs,
    records_per_epoch_of,
    timed_programs,
)

EXAMPLES_VARIABLE = "FIRESTEEL_PYFLINK_EXAMPLES"
INSTALLED = sorted(
    Path(__file__).parents[2].glob(".cache/bench-pyflink-*/lib/python*/site-packages/pyflink/examples")
)
NAMES = [program.name for program in programs()]
TIMED_NAMES = [program.name for program in timed_programs()]
# Their output does not depend on when watermarks come, as they have none: so it must not depend on epochs either.
TIMELESS = [program.name for program in programs() if "Watermark" not in program.read_text(encoding="utf-8")]


def check(path: Path, name: str, comparison: Comparison, capfd: pytest.CaptureFixture[str]) -> None:
    exit_code = run_job(Program(path), Ambient(), pyflink=True)
    output, errors = capfd.readouterr()
    assert exit_code == 0, errors
    expected = expected_of(name).read_text(encoding="utf-8")
    assert comparison.normalise(output) == comparison.normalise(expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_flink_printed(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    program = PROGRAMS / name
    with executing("process", epoch_records=records_per_epoch_of(program)):
        check(program, name, comparison_of(program), capfd)


@pytest.mark.parametrize("name", TIMELESS)
def test_the_output_is_the_same_in_many_epochs(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    program = PROGRAMS / name
    with executing("process", epoch_records=1):
        check(program, name, comparison_of(program), capfd)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if place % 2 else [])
        for place, name in enumerate(NAMES)
    ],
)
def test_a_program_prints_it_on_spark(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    program = PROGRAMS / name
    with executing("spark", epoch_records=records_per_epoch_of(program)):
        check(program, name, comparison_of(program), capfd)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_pyflink_prints_what_flink_printed(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = os.environ.get(EXAMPLES_VARIABLE) or next(map(str, INSTALLED), None)
    if folder is None:
        pytest.skip(f"${EXAMPLES_VARIABLE} is not set, and `./run bench` has installed no PyFlink")
    with executing("process", epoch_records=EXAMPLES[name].epoch_records):
        check(Path(folder) / name, name, EXAMPLES[name], capfd)


def test_every_program_has_an_expectation() -> None:
    wanted = {expected_of(name).name for name in [*NAMES, *EXAMPLES, *TIMED_NAMES]}
    assert {path.name for path in expected_of("x").parent.iterdir()} == wanted
