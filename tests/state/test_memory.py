"""How much of its state a worker keeps in memory: the option, what the worker has, and what is shared."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from firesteel.common.errors import ConfigurationError
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.state.live import machine
from firesteel.state.live.machine import container_limit, default_state_memory
from firesteel.state.live.memory import Memory, allow_state_memory
from tests.recovery.jobs import environment

MIB = 1 << 20


class User:
    pass


def test_what_others_keep_is_not_there_but_an_equal_share_is() -> None:
    memory, users = Memory(100), [User(), User(), User()]
    for user in users:
        memory.join(user)
    memory.note(users[0], 90)
    memory.note(users[1], 5)
    assert [memory.share(user) for user in users] == [95, 33, 33]
    memory.join(users[0])
    assert memory.share(users[1]) == 33
    del user, users[0]
    gc.collect()
    assert memory.share(users[0]) == 100


def test_a_process_has_one_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "_of_process", None)
    assert Memory.of_process() is Memory.of_process()
    assert Memory.of_process().limit == default_state_memory()
    allow_state_memory(5)
    assert Memory.of_process().limit == 5
    allow_state_memory(None)
    assert Memory.of_process().limit == default_state_memory()


@pytest.mark.parametrize(
    ("machine_memory", "cores", "pyspark", "expected"),
    [
        (8192 * MIB, 4, "", 256 * MIB),
        (1024 * MIB, 8, "", 32 * MIB),
        (1 << 40, 4, "", 512 * MIB),
        (8192 * MIB, 4, "1024", 128 * MIB),
        (8192 * MIB, 4, "-1", 256 * MIB),
    ],
)
def test_the_default_is_an_eighth_of_what_the_worker_has(
    monkeypatch: pytest.MonkeyPatch, machine_memory: int, cores: int, pyspark: str, expected: int
) -> None:
    monkeypatch.setattr(machine, "_memory", lambda: machine_memory)
    monkeypatch.setattr(machine, "_cores", lambda: cores)
    assert default_state_memory({"PYSPARK_EXECUTOR_MEMORY_MB": pyspark}) == expected


def test_the_lowest_limit_of_the_control_groups_counts(tmp_path: Path) -> None:
    _write(tmp_path / "pod/worker/memory.max", "max")
    _write(tmp_path / "pod/memory.max", "3000\n")
    _write(tmp_path / "memory.max", "5000")
    assert container_limit("0::/pod/worker", tmp_path) == 3000
    assert container_limit("0::/elsewhere", tmp_path) == 5000
    assert container_limit("", tmp_path) is None
    _write(tmp_path / "memory/docker/memory.limit_in_bytes", "2000")
    assert container_limit("5:cpu,cpuacct:/docker\n4:memory:/docker\n0::/", tmp_path) == 2000


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


class ShowsLimit(KeyedProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("value"))

    def process_element(self, value, ctx):
        yield Memory.of_process().limit


SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=SPARK)])
def test_the_option_reaches_the_workers_and_the_next_job_has_its_own(tmp_path: Path, on: str) -> None:
    found = []
    for number, options in enumerate(({"firesteel.state.memory": "7 mb"}, {})):
        with environment(tmp_path / str(number), options=options, on=on) as env:
            limits = env.from_collection([1]).key_by(lambda value: value).process(ShowsLimit())
            found += list(limits.execute_and_collect())
    assert found == [7 * MIB, default_state_memory()]


def test_what_is_no_size_is_refused(tmp_path: Path) -> None:
    with environment(tmp_path, options={"firesteel.state.memory": "much"}) as env:
        env.from_collection([1]).print()
        with pytest.raises(ConfigurationError, match=r"option 'firesteel.state.memory' requires a size"):
            env.execute()
