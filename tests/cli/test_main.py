"""The command line from outside: what is printed where, and the exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typer.testing import CliRunner, Result

from firesteel.cli.main import app

RunPython = Callable[..., CompletedProcess[str]]
Inside = Callable[..., Result]

COUNT = """
from firesteel.common import Types
from firesteel.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
pairs = env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.key_by(lambda pair: pair[0]).sum(1).name("totals").print()
env.execute("totals of pairs")
print("after the job")
"""

FOREVER = """
from firesteel.common import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.source import Boundedness, Source, Split

class Naturals(Source):
    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def splits(self, known):
        return [] if "all" in known else [Split("all")]

    def available(self, split, position, now):
        return position + 10

    def read(self, split, start, end):
        yield list(range(start, end))

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_source(Naturals(), WatermarkStrategy.no_watermarks(), "naturals").print()
env.execute("for ever")
"""


@pytest.fixture
def firesteel(run_python: RunPython, tmp_path: Path) -> RunPython:
    """Runs `firesteel COMMAND [OPTIONS] job.py [ARGUMENTS]` with a program given as text."""

    def run(
        command: str, program: str, *arguments: str, options: tuple[str, ...] = ()
    ) -> CompletedProcess[str]:
        (tmp_path / "job.py").write_text(program)
        return run_python("-m", "firesteel.cli", command, *options, "job.py", *arguments)

    return run


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Runs `firesteel COMMAND [OPTIONS]` in this process, beside the program as job.py: no job may start."""
    monkeypatch.chdir(tmp_path)

    def run(command: str, *options: str, program: str = "") -> Result:
        (tmp_path / "job.py").write_text(program)
        return CliRunner().invoke(app, [command, *options])

    return run


def test_explain_shows_nodes_with_their_lines_and_levels(firesteel: RunPython) -> None:
    done = firesteel("explain", COUNT, options=("--parallelism", "2"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("job: totals of pairs\n")
    assert "job.py:7" in done.stdout
    assert "level 0 (1 task)" in done.stdout
    assert "level 1 (2 tasks)" in done.stdout
    assert "    chain 1: totals -> Print" in done.stdout
    assert "=> totals in level 1, HASH" in done.stdout
    assert "after the job" not in done.stdout


def test_explain_as_json(inside: Inside) -> None:
    done = inside("explain", "--json", "job.py", program=COUNT)
    described = json.loads(done.stdout)
    assert described["job"] == "totals of pairs"
    assert described["nodes"][0]["pact"] == "Data Source"
    assert [level["level"] for level in described["levels"]] == [0, 1]
    (chain,) = described["levels"][1]["chains"]
    assert (chain[0]["name"], chain[0]["after"], chain[1]["after"]) == ("totals", None, 0)
    (edge,) = described["levels"][0]["edges"]
    assert (edge["distribution"], edge["to"], edge["exchange"]) == ("HASH", "totals", True)


def test_explain_of_a_program_without_a_job(inside: Inside) -> None:
    done = inside("explain", "job.py", program="print('nothing')")
    assert done.exit_code == 1
    assert "ended without starting a job" in done.stderr


@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_missing_program_is_wrong_usage(inside: Inside, command: str) -> None:
    done = inside(command, "nowhere.py")
    assert done.exit_code == 2
    assert "nowhere.py" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", [("--no-such-option",), ("--parallelism", "0"), ("--parallelism", "x")])
def test_unknown_options_and_values_are_wrong_usage(inside: Inside, option: tuple[str, ...]) -> None:
    done = inside("run", *option, "job.py")
    assert done.exit_code == 2
    assert option[0] in done.stderr


def test_a_conf_that_is_no_pair_is_wrong_usage(inside: Inside) -> None:
    done = inside("run", "--conf", "parallelism", "job.py")
    assert done.exit_code == 2
    assert done.stderr == "error: --conf requires KEY=VALUE; got 'parallelism'\n"


def test_an_error_of_firesteel_is_one_message(firesteel: RunPython) -> None:
    done = firesteel("run", COUNT.replace("env.execute", "env.set_parallelism(-2); env.execute"))
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_an_error_of_the_program_is_a_traceback_of_its_own_lines(firesteel: RunPython) -> None:
    done = firesteel("run", "def f():\n    return 1 / 0\n\nf()\n")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert 'job.py", line 2, in f' in done.stderr
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "runpy" not in done.stderr
    assert f"firesteel{os.sep}cli" not in done.stderr


def test_debug_shows_everything(firesteel: RunPython) -> None:
    done = firesteel("run", "1 / 0", options=("--debug",))
    assert f"firesteel{os.sep}cli" in done.stderr


def test_a_program_that_does_not_compile(firesteel: RunPython) -> None:
    done = firesteel("run", "def f(:\n")
    assert done.returncode == 1
    assert 'job.py", line 1' in done.stderr.splitlines()[0]
    assert done.stderr.splitlines()[-1].startswith("SyntaxError")


def test_a_program_chooses_its_exit_code(firesteel: RunPython) -> None:
    assert firesteel("run", "import sys; sys.exit(3)").returncode == 3


def test_arguments_and_imports_are_those_of_a_script(firesteel: RunPython, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 'beside'")
    program = "import sys, beside; print(sys.argv, beside.WORD, __name__)"
    done = firesteel("run", program, "input.txt", "--", "--window", "5")
    assert done.stdout == "['job.py', 'input.txt', '--window', '5'] beside __main__\n"


def test_a_module_runs_as_python_would_run_it(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "prices.py").write_text("TEA = 3")
    (tmp_path / "shop" / "main.py").write_text(
        "import sys; from .prices import TEA; import taxes; print(__name__, __package__, TEA, taxes.RATE, sys.argv[1:])"
    )
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "taxes.py").write_text("RATE = 7")
    for option, files in (("-m", "--py-files"), ("-pym", "-pyfs"), ("--pyModule", "--pyFiles")):
        done = run_python(
            *("-m", "firesteel.cli", "run", files, "libraries", option, "shop.main", "s3://a/b", "--", "-x")
        )
        assert done.stdout == "__main__ shop 3 7 ['s3://a/b', '-x']\n", done.stderr


@pytest.mark.parametrize("module", ["nowhere", "nowhere.main", "json.nowhere"])
def test_a_missing_module_is_one_message(inside: Inside, module: str) -> None:
    done = inside("run", "-m", module)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: --module requires a module that can be imported")
    assert "Traceback" not in done.stderr


def test_neither_a_file_nor_a_module_is_wrong_usage(inside: Inside) -> None:
    done = inside("run")
    assert done.exit_code == 2
    assert "requires a Python file, or -m MODULE" in done.stderr


def test_info_prints_versions(run_python: RunPython) -> None:
    done = run_python("-m", "firesteel.cli", "info")
    for part in ("firesteel", "python", "pyspark", "java", "system"):
        assert part in done.stdout


def test_info_says_what_is_wrong_with_java(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python("-m", "firesteel.cli", "info", JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("error: Spark cannot start with this Java")


@pytest.mark.spark
def test_a_job_runs_and_the_program_goes_on(firesteel: RunPython) -> None:
    done = firesteel("run", COUNT, options=("--parallelism", "1"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(a,1)\n(b,2)\nafter the job\n"


@pytest.mark.spark
def test_ctrl_c_stops_a_job_at_the_end_of_an_epoch(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(FOREVER)
    path = os.pathsep.join([str(Path(__file__).parents[2] / "src"), *sys.path])
    with (
        (tmp_path / "errors.txt").open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "firesteel.cli", "run", "--state-dir", "state", "job.py"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        printed = [int(process.stdout.readline())]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the JVM and the workers too
        printed.extend(map(int, process.stdout))
    assert process.returncode == 130, (tmp_path / "errors.txt").read_text()
    assert printed == list(range(len(printed)))
    assert len(printed) % 10 == 0
    assert "Traceback" not in (tmp_path / "errors.txt").read_text()
