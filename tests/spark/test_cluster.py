"""A program on a real cluster, one of whose executors is killed in the middle."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from harness.cluster import Cluster, standalone_cluster
from tests.spark.programs import packaged
from tests.spark.wheels import a_wheel

RunPython = Callable[..., CompletedProcess[str]]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-cluster")]

PROGRAMS = Path(__file__).parent / "programs"
COUNTING = PROGRAMS / "counting.py"
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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as running:
        yield running


@pytest.fixture
def run_on_cluster(cluster: Cluster, tmp_path: Path, run_python: RunPython) -> RunPython:
    """Runs `firesteel run --master CLUSTER ... ARGUMENTS` with a state directory of the test's own."""
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }

    def run(*arguments: object, **environment: str) -> CompletedProcess[str]:
        return run_python(
            *("-m", "firesteel.cli", "run", "--master", cluster.url, "--parallelism", 2),
            *("--state-dir", tempfile.mkdtemp(prefix="state-", dir=tmp_path)),
            *(word for name, value in options.items() for word in ("--conf", f"{name}={value}")),
            *arguments,
            **{"SPARK_LOCAL_IP": "127.0.0.1", **environment},
        )

    return run


def test_a_job_survives_the_loss_of_an_executor(tmp_path: Path, run_on_cluster: RunPython) -> None:
    output, marker = tmp_path / "out", tmp_path / "killed"
    done = run_on_cluster(
        *("--conf", f"firesteel.epoch.max-records={EPOCH}", COUNTING, output, marker, NUMBERS)
    )
    assert done.returncode == 0, done.stderr
    assert marker.exists()
    code, *results = lines(output)
    assert results == expected()
    _, package, beside = code.split()
    assert package.startswith("firesteel-")
    assert beside.startswith("program-")
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_an_error_of_the_engine_is_tried_again(tmp_path: Path, run_on_cluster: RunPython) -> None:
    engine = run_on_cluster(PROGRAMS / "breaking_engine.py", "engine", tmp_path / "engine")
    assert engine.returncode == 0, engine.stderr
    assert engine.stdout == f"{list(range(1, 11))}\n"
    assert "met an unexpected TypeError" in engine.stderr  # it says why it starts again


@pytest.mark.thorough
def test_an_error_of_the_program_is_not_tried_again(tmp_path: Path, run_on_cluster: RunPython) -> None:
    user = run_on_cluster(PROGRAMS / "breaking_engine.py", "user", tmp_path / "user")
    assert user.returncode == 1
    assert user.stderr.startswith("error: map 'Map' (")
    assert "the function raised ValueError: of the program at " in user.stderr
    assert "breaking_engine.py:" in user.stderr
    assert "restarted" not in user.stderr


@pytest.mark.long
def test_a_module_of_a_package_runs_with_all_it_needs(tmp_path: Path, run_on_cluster: RunPython) -> None:
    packaged.make(tmp_path)
    a_wheel(tmp_path / "cached", "shipped_requirement", "1.5")
    (tmp_path / "requirements.txt").write_text("shipped_requirement\n")
    done = run_on_cluster(
        *("-pym", "shop.jobs.main", "-pyfs", "libraries", "-pyreq", "requirements.txt#cached"),
        *("-pyarch", "names.zip#data", "tea", "tea"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "tea 3 7 1.5 from the archive tea 3 7 1.5 from the archive\n"


@pytest.mark.thorough
def test_a_module_that_a_worker_lacks_is_named_with_what_to_do(
    tmp_path: Path, run_on_cluster: RunPython
) -> None:
    packaged.make(tmp_path)
    done = run_on_cluster("needs_more.py")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "error: map 'Map' (needs_more.py:9) requires the module 'not_on_any_worker'"
    )
    assert "--py-files" in done.stderr
    assert "restarted" not in done.stderr
    assert "org.apache" not in done.stderr
