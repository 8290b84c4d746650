"""Jobs of the contracts' tests: one program, run to its end, to a stop, or to a crash."""

from __future__ import annotations

import gc
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import pytest

from firesteel.common.configuration import Configuration
from firesteel.common.job_client import JobClient
from firesteel.control.listeners import EpochStats
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing.contracts.steps import Dies, Steps
from firesteel.testing.execution import executing

through_crashes = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
"""Marks tests whose jobs crash: what they had open stays open, as the end of a process would not leave it."""

Program = Callable[[StreamExecutionEnvironment], None]
Where = Literal["process", "spark"]

PATIENCE_S: Final = 120.0
"""How long a job may take, and a running one until it has read what is there."""

_OPTIONS: Final = {"restart-strategy.type": "none"}
_RUNS: Final = 500
_STEPS: Final = 40
_SHOWN: Final = 5
_IDLE_S: Final = 0.05


class Contract:
    """Tests of which those with an `executor` run on each of `executors`."""

    executors: ClassVar[Sequence[Any]] = ("process",)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run the tests with an executor on each of the executors."""
        if "executor" in metafunc.fixturenames:
            metafunc.parametrize("executor", self.executors)


def run_job(
    program: Program,
    directory: Path,
    *,
    on: Where = "process",
    parallelism: int = 1,
    epoch_records: int | None = None,
    steps: Steps | None = None,
    stop_after: Callable[[int], bool] | None = None,
) -> None:
    """Run a program on the state in a directory, until it ends, crashes, or `stop_after` is true.

    `stop_after` is asked with the number of the last epoch, after it and while there is no other. Raises TimeoutError
    if none of this happens.
    """
    stopper = None if stop_after is None else _Stopper(stop_after)
    with executing(
        on if steps is None else steps.executor,
        epoch_records=epoch_records,
        parallelism=parallelism,
        state_dir=str(directory / "state"),
        listener=stopper,
    ):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(_OPTIONS))
        program(env)
        client = env.execute_async("contract")
        with nullcontext() if stopper is None else stopper.following(client):
            _wait(client, steps)


def _wait(client: JobClient, steps: Steps | None) -> None:
    overdue = threading.Event()

    def give_up() -> None:
        overdue.set()
        client.cancel()

    timer = threading.Timer(PATIENCE_S, give_up)
    timer.start()
    try:
        client.get_job_execution_result().result()
    except Exception as error:
        if overdue.is_set():
            raise TimeoutError(f"the job has not ended within {PATIENCE_S:.0f} s") from error
        if steps is None or steps.crashed_at is None:
            raise
    finally:
        timer.cancel()


class _Stopper:
    """Asks after each epoch, and while there is none, whether the job is to be stopped."""

    def __init__(self, stop_after: Callable[[int], bool]) -> None:
        self._stop_after = stop_after
        self._asking = threading.Lock()
        self._ended = threading.Event()
        self._started = threading.Event()
        self._client: JobClient | None = None
        self._epochs = 0

    @contextmanager
    def following(self, client: JobClient) -> Iterator[None]:
        """Stop a job; the block waits for its end."""
        self._client = client
        self._started.set()
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def on_epoch(self, stats: EpochStats) -> None:
        self._started.wait()
        self._epochs = stats.epoch
        self._ask()

    def _watch(self) -> None:
        while not self._ended.wait(_IDLE_S):
            self._ask()

    def _ask(self) -> None:
        with self._asking:
            if not self._ended.is_set() and self._stop_after(self._epochs):
                assert self._client is not None
                self._client.stop()
                self._ended.set()


def each_kind_of_step(died: Sequence[str]) -> Dies:
    """Let a run of a job die at the first step at which no earlier run has died."""
    earlier = frozenset(died)
    return lambda _number, what: what not in earlier


def random_steps(seed: int) -> Callable[[Sequence[str]], Dies]:
    """Let each run of a job die after some steps, at random."""
    chance = random.Random(seed)

    def dying(_died: Sequence[str]) -> Dies:
        last = chance.randint(1, _STEPS)
        return lambda number, _what: number == last

    return dying


def run_with_crashes(
    run: Callable[[Steps], None],
    dying: Callable[[Sequence[str]], Dies],
    crashed: Callable[[], None] = lambda: None,
) -> list[str]:
    """Run a job again and again until it lives to its end; return where it has died.

    `dying` is asked before each run where it dies, and told where the earlier ones have died.
    """
    died: list[str] = []
    while len(died) < _RUNS:
        steps = Steps(dying(died))
        run(steps)
        if steps.crashed_at is None:
            gc.collect()  # what crashed runs have left open goes now
            return died
        died.append(steps.crashed_at)
        crashed()
    raise AssertionError(f"the job does not come to its end; it died {len(died)} times, last {died[-1]}")


def require_rows(found: Iterable[Any], expected: Iterable[Any], *, exactly: bool = True) -> None:
    """Raise AssertionError unless the rows are the expected ones, in any order (not `exactly`: each at least once)."""
    there, wanted = Counter(map(repr, found)), Counter(map(repr, expected))
    missing = wanted - there
    surplus = there - wanted
    if not exactly:
        surplus = Counter({row: count for row, count in surplus.items() if row not in wanted})
    assert not missing, f"{missing.total()} of {wanted.total()} rows are missing: {_some(missing)}"
    assert not surplus, f"{surplus.total()} rows are there that must not be: {_some(surplus)}"


def _some(rows: Counter[str]) -> str:
    more = ", ..." if len(rows) > _SHOWN else ""
    return ", ".join(f"{row} ({count} times)" for row, count in [*rows.items()][:_SHOWN]) + more
