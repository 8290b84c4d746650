"""Functions of Python beside PyFlink's: the figures, and the section made from them."""

from __future__ import annotations

import pytest

from bench.process import printed
from bench.udf.functions import BY_NAME, FUNCTIONS, value
from bench.udf.part import PART, TIMEOUT_SECONDS, render, times

RUNS = {
    "scalar, per row, Firesteel": [{"rate": rate} for rate in (9_000_000, 8_000_000, 1_000)],
    "scalar, per row, Flink SQL": [{"rate": 400_000}],
    "of pandas, Flink SQL": [{"rate": 1_000_000}],
}


def test_the_ratio_is_that_of_the_medians_where_both_were_measured() -> None:
    assert times(RUNS, BY_NAME["scalar"]) == 20
    assert times(RUNS, BY_NAME["pandas"]) is None


def test_the_section_has_a_row_for_each_function() -> None:
    lines = render(RUNS)
    assert "| scalar, per row | 8,000,000 | 400,000 | 20.0 | 10 |" in lines
    assert "| of pandas |  | 1,000,000 |  | 3 |" in lines


def test_every_function_runs_on_both_systems() -> None:
    assert [case.name for case in PART.cases] == [
        f"{function.name} {system}" for function in FUNCTIONS for system in ("firesteel", "flink")
    ]


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "function",
    [pytest.param(name, marks=[pytest.mark.thorough] if place else []) for place, name in enumerate(BY_NAME)],
)
def test_a_function_on_spark(function: str) -> None:
    command = ["-m", "bench.udf.program", "firesteel", function, "--scale", "0.0005"]
    found = printed(function, command, TIMEOUT_SECONDS)  # it checks the results of the first rows
    assert len(found["rows"]) == len(found["seconds"]) == 2
    assert value(7, 7) == 28
