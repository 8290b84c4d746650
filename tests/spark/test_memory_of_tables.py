"""Groups of a query that are several times larger than the memory a worker takes, on Spark itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.conftest import RunPython
from tests.spark.test_memory import SPARK

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark-cluster"),
    pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

PROGRAM = Path(__file__).parent / "programs" / "large_groups.py"
PASSES = 3
ROOM_MIB = 160
"""How much more than at its start a worker may have in memory that is no file's."""

PRINTED = re.compile(r"^(?:\d+> )?\+[IU]\[(\d+), (\d+), (\d+) (\d+) x*\]$", re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("keys", "size", "rows"),
    [(300_000, 2000, 20_000), pytest.param(10_000_000, 60, 250_000, marks=pytest.mark.thorough)],
)
def test_groups_of_several_times_the_memory(
    tmp_path: Path, run_python: RunPython, keys: int, size: int, rows: int
) -> None:
    """`size` is the bytes of the text of each key, `rows` those of an epoch."""
    state = keys * size >> 20
    assert state > 3 * ROOM_MIB
    samples = tmp_path / "samples"
    samples.mkdir()
    options = {**SPARK, "firesteel.epoch.max-records": str(rows)}
    done = run_python(
        *("-m", "firesteel.cli", "run", "--master", "local[2]", "--parallelism", 1),
        *("--state-dir", tmp_path / "state"),
        *(word for name, value in options.items() for word in ("--conf", f"{name}={value}")),
        *(PROGRAM, keys, size, PASSES, samples),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=str(tmp_path / "local"),
    )
    assert done.returncode == 0, done.stderr
    found = {(int(key), int(times), int(last)) for key, times, last, _ in PRINTED.findall(done.stdout)}
    assert found == {(key, PASSES, PASSES - 1) for key in range(0, keys, 1000)}
    watched = [[int(line.split()[0]) for line in path.read_text().splitlines()] for path in samples.iterdir()]
    long_lived = [anonymous for anonymous in watched if len(anonymous) > 100]
    assert long_lived
    for anonymous in long_lived:
        half = len(anonymous) // 2
        assert max(anonymous) <= anonymous[0] + ROOM_MIB
        assert max(anonymous[half:]) <= max(anonymous[:half]) + state / 10
