"""Samples of a thread that works, and of one that waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import UnsupportedError
from firesteel.control.flame_sampling import FlameSampling
from firesteel.control.views.flamegraphs import Stack, read_samples
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.plan import EpochPlan, TaskReport
from firesteel.runtime.sampling import Sample, Sampler, Sampling
from firesteel.runtime.usage import Stopwatch, Usage

FOREVER = 1 << 60
ENOUGH = 5
EPOCH = EpochPlan("job", EpochFacts(1, "a", 0), 1, 0)
WAIT_S = 30


def work(sampler: Sampler) -> None:
    until = time.monotonic() + WAIT_S
    while not enough(sampler, True) and time.monotonic() < until:
        sum(range(1000))


def rest(sampler: Sampler) -> None:
    never = threading.Event()
    until = time.monotonic() + WAIT_S
    while not enough(sampler, False) and time.monotonic() < until:
        never.wait(0.05)


def enough(sampler: Sampler, on_cpu: bool) -> bool:
    return sum(sample.times for sample in sampler.samples() if sample.on_cpu is on_cpu) >= ENOUGH


def sampled(body: Callable[[Sampler], None], operator: int = 3) -> list[Sample]:
    with Sampler(Sampling(1, FOREVER), 2, Stopwatch(Usage(operator))) as sampler:
        body(sampler)
    return sampler.samples()


def of(samples: list[Sample], name: str, on_cpu: bool) -> int:
    return sum(
        sample.times
        for sample in samples
        if sample.on_cpu is on_cpu and any(f".{name}:" in call for call in sample.stack)
    )


def test_work_is_on_the_processor_and_waiting_is_not() -> None:
    worked = sampled(work)
    assert of(worked, "work", True) >= ENOUGH
    assert {(sample.operator, sample.subtask) for sample in worked} == {(3, 2)}
    rested = sampled(rest)
    assert of(rested, "rest", False) >= ENOUGH
    assert of(rested, "rest", False) > of(rested, "rest", True)


def test_there_are_no_samples_of_a_task_that_works_for_no_operator() -> None:
    def once(sampler: Sampler) -> None:
        threading.Event().wait(0.05)

    assert sampled(once, operator=-1) == []


def test_sampling_ends_at_its_time() -> None:
    with Sampler(Sampling(1, 0), 0, Stopwatch(Usage(1))) as sampler:
        sampler._thread.join(WAIT_S)
        assert not sampler._thread.is_alive()
    assert sampler.samples() == []


def test_where_the_time_of_a_thread_is_not_known_a_task_goes_on_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(time, "pthread_getcpuclockid")
    with Sampler(Sampling(1, FOREVER), 0, Stopwatch(Usage(1))) as sampler:
        pass
    assert sampler.samples() == []
    with pytest.raises(UnsupportedError, match="a flame graph needs to know the processor time of a thread"):
        FlameSampling(Storage.of("unused")).ask(1.0)


def test_a_request_waits_for_the_epoch_that_runs(tmp_path: Path) -> None:
    storage = Storage.of(tmp_path)
    sampling = FlameSampling(storage)
    plan: Any = SimpleNamespace(operators=[SimpleNamespace(id="count")])
    sampling.on(EPOCH)
    answer = sampling.ask(0.5)
    with pytest.raises(TimeoutError):
        answer.result(0.8)  # longer than its time, which has not begun
    sampling.took(plan, [])
    assert sampling.on(EPOCH).sampling is not None
    sampling.took(plan, [TaskReport(0, [], samples=[Sample(0, 0, True, ("work",), 7)])])
    answer.result(WAIT_S)
    found = read_samples(storage)
    assert found is not None
    assert found.stacks == (Stack("count", 0, True, ("work",), 7),)


def test_a_request_of_a_job_that_waits_ends_without_samples(tmp_path: Path) -> None:
    storage = Storage.of(tmp_path)
    FlameSampling(storage).ask(0.05).result(WAIT_S)
    found = read_samples(storage)
    assert found is not None
    assert found.stacks == ()
