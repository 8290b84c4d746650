"""State several times larger than the memory a worker may use, on Spark itself."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

RunPython = Callable[..., CompletedProcess[str]]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark-cluster"),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

PROGRAM = Path(__file__).parent / "programs" / "large_state.py"
KEYS = 200_000
PASSES = 3
KEPT_MIB = 32
ROOM_MIB = 144
STATE_MIB = KEYS * 2000 >> 20
SPARK = {"spark.driver.host": "127.0.0.1", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


def run(run_python: RunPython, directory: Path, *arguments: int, **options: str) -> CompletedProcess[str]:
    keys, passes, kept, room = arguments
    samples = directory / "samples"
    samples.mkdir()
    settings = {**SPARK, "firesteel.epoch.max-records": "50000", **options}
    return run_python(
        *("-m", "firesteel.cli", "run", "--master", "local[2]", "--parallelism", 1),
        *("--state-dir", directory / "state"),
        *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        *(PROGRAM, keys, passes, samples, kept, room),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=str(directory / "local"),
    )


@pytest.mark.long
def test_state_of_several_times_the_memory(tmp_path: Path, run_python: RunPython) -> None:
    assert STATE_MIB > 2.5 * ROOM_MIB
    done = run(run_python, tmp_path, KEYS, PASSES, KEPT_MIB, ROOM_MIB)
    assert done.returncode == 0, done.stderr
    times = Counter(line.split()[1] for line in done.stdout.splitlines())
    assert times == {str(number + 1): KEYS // 1000 for number in range(PASSES)}
    for path in (tmp_path / "samples").iterdir():
        anonymous = [int(line.split()[0]) for line in path.read_text().splitlines()]
        if len(anonymous) > 100:
            half = len(anonymous) // 2
            assert max(anonymous[half:]) <= max(anonymous[:half]) + STATE_MIB / 10
            assert max(anonymous) <= anonymous[0] + ROOM_MIB
    assert not list((tmp_path / "local").rglob("firesteel-spill-*"))


@pytest.mark.thorough
def test_too_little_address_space_is_named(tmp_path: Path, run_python: RunPython) -> None:
    done = run(run_python, tmp_path, 20_000, 2, 8, 0, **{"spark.executor.pyspark.memory": "1800m"})
    assert done.returncode == 1
    assert "MiB of address space; got a process with a lower limit" in done.stderr
    assert "hint: remove the limit on address space (spark.executor.pyspark.memory, ulimit -v)" in done.stderr
    assert "Traceback" not in done.stderr
