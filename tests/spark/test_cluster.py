"""A program on a real cluster, one of whose executors is killed in the middle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.services.cluster import standalone_cluster

RunPython = Callable[..., CompletedProcess[str]]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-cluster")]

PROGRAM = Path(__file__).parent / "programs" / "counting.py"
NUMBERS = 4000
EPOCH = 1000


def expected() -> list[str]:
    keys = [f"key-{number % 7}" for number in range(NUMBERS)]
    counts = [f"count {key} {n}" for key, total in Counter(keys).items() for n in range(1, total + 1)]
    windows = Counter((key, number * 10 // 1000 * 1000) for number, key in enumerate(keys))
    return sorted([*counts, *(f"window {key} {start} {n}" for (key, start), n in windows.items())])


def lines(directory: Path) -> list[str]:
    parts = [path for path in directory.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(line for path in parts for line in path.read_text().splitlines())


def test_a_job_survives_the_loss_of_an_executor(tmp_path: Path, run_python: RunPython) -> None:
    output, marker = tmp_path / "out", tmp_path / "killed"
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "firesteel.epoch.max-records": str(EPOCH),
    }
    with standalone_cluster(tmp_path / "cluster", workers=2) as cluster:
        done = run_python(
            *("-m", "firesteel.cli", "run", "--master", cluster.url, "--parallelism", 2),
            *("--state-dir", tmp_path / "state"),
            *(word for name, value in options.items() for word in ("--conf", f"{name}={value}")),
            *(PROGRAM, output, marker, NUMBERS),
            SPARK_LOCAL_IP="127.0.0.1",
        )
    assert done.returncode == 0, done.stderr
    assert marker.exists()
    code, *results = lines(output)
    assert results == expected()
    _, package, beside = code.split()
    assert package.startswith("firesteel-")
    assert beside.startswith("program-")
    assert "Traceback" not in done.stderr
