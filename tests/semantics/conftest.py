"""Semantic tests run each program in this process and on Spark, as one epoch and as many, at several parallelisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from firesteel.datastream import DataStream, StreamExecutionEnvironment
from firesteel.testing import ManualClock, executing

Program = Callable[[StreamExecutionEnvironment], DataStream]


@dataclass(frozen=True)
class Run:
    """One way to run a program."""

    on: str
    epoch_records: int | None
    parallelism: int

    def __str__(self) -> str:
        epochs = "one-epoch" if self.epoch_records is None else f"{self.epoch_records}-records"
        return f"{self.on}-{epochs}-p{self.parallelism}"

    def __call__(self, program: Program) -> list[Any]:
        """Return what the program's stream collects, in the order of arrival."""
        clock = ManualClock(1_000_000)
        with executing(self.on, epoch_records=self.epoch_records, parallelism=self.parallelism, clock=clock):
            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(self.parallelism)
            return list(program(env).execute_and_collect())


IN_PROCESS = [Run("process", epoch, parallelism) for epoch in (None, 1, 3) for parallelism in (1, 2, 3)]
ON_SPARK = [Run("spark", None, 2), Run("spark", 20, 3)]


USUAL = {Run("process", None, 1), Run("process", None, 3), Run("process", 1, 2), Run("process", 3, 3)}
"""The ways in the process of each test; the others come with --thorough."""


def _param(run: Run) -> Any:
    if run.on == "spark":
        marks = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
    else:
        marks = [] if run in USUAL else [pytest.mark.thorough]
    return pytest.param(run, id=str(run), marks=marks)


@pytest.fixture(params=[_param(run) for run in (*IN_PROCESS, *ON_SPARK)])
def run(request: pytest.FixtureRequest) -> Run:
    """Each way to run a program, in turn."""
    way: Run = request.param
    return way


@pytest.fixture(params=[_param(run) for run in IN_PROCESS])
def run_in_process(request: pytest.FixtureRequest) -> Run:
    """Each way to run a program without Spark."""
    way: Run = request.param
    return way
