"""How programs end: by SIGTERM, by an error, or while a job still runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.control.commands import read_status

Program = Callable[..., "subprocess.Popen[str]"]

BEGIN = """
import sys
from pathlib import Path

from firesteel.common import WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import MapFunction
from firesteel.testing import executing


class Noted(MapFunction):
    def map(self, value):
        return value

    def close(self):
        Path("closed").touch()


def stream(count=None):
    source = DataGeneratorSource(lambda index: index, count, records_per_second=1000)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").map(Noted())


with executing(state_dir="state", parallelism=1, epoch_records=10):
    env = StreamExecutionEnvironment.get_execution_environment()
"""

WAITING = {
    "execute": "stream().print(); env.execute()",
    "result": "stream().print(); env.execute_async().get_job_execution_result().result()",
    "collect": "for value in stream().execute_and_collect(): print(value, flush=True)",
    "wait": "stream().print(); env.execute_async()._handle.wait()",
}


@contextmanager
def program(
    directory: Path, text: str, *command: str, merged: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """Runs a program; its errors go to a file, or to standard output if they are `merged`."""
    (directory / "program.py").write_text(BEGIN + "    " + text + "\n")
    path = os.pathsep.join([str(Path(__file__).parents[2] / "src"), *sys.path])
    with (
        (directory / "errors.txt").open("w") as errors,
        subprocess.Popen(
            [sys.executable, *command, "program.py"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else errors,
            text=True,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": path},
        ) as process,
    ):
        yield process


def status(directory: Path) -> str:
    found = read_status(Storage.of(directory / "state"))
    assert found is not None
    return found.status


@pytest.mark.parametrize("way", WAITING)
def test_sigterm_stops_a_job_at_the_end_of_an_epoch(tmp_path, way):
    with program(tmp_path, WAITING[way]) as process:
        printed = [int(process.stdout.readline())]
        process.send_signal(signal.SIGTERM)
        printed.extend(map(int, process.stdout))
    errors = (tmp_path / "errors.txt").read_text()
    assert process.returncode == 143, errors
    assert printed == list(range(len(printed)))
    assert (tmp_path / "closed").exists()
    assert status(tmp_path) == "FINISHED"
    assert "Traceback" not in errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("command", [(), ("-m", "firesteel.cli", "run")], ids=["python", "firesteel run"])
def test_a_signal_ends_the_wait_at_the_end_of_a_program(tmp_path, command, number, code):
    with program(tmp_path, "stream().print(); env.execute_async()", *command, merged=True) as process:
        lines, read = iter(process.stdout), []
        while "0\n" not in read or not any("still runs, and is waited for" in line for line in read):
            read.append(next(lines))
        process.send_signal(number)
        said = "".join(lines)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert (tmp_path / "closed").exists()
    assert status(tmp_path) == "FINISHED"


@pytest.mark.parametrize("command", [(), ("-m", "firesteel.cli", "run")], ids=["python", "firesteel run"])
def test_a_job_outlives_the_end_of_its_program(tmp_path, command):
    with program(tmp_path, "stream(200).print(); env.execute_async(); print('the end')", *command) as process:
        printed = process.stdout.read().split("\n")[:-1]
    assert process.returncode == 0
    assert sorted(printed) == sorted(["the end", *map(str, range(200))])
    assert status(tmp_path) == "FINISHED"
    assert "still runs, and is waited for" in (tmp_path / "errors.txt").read_text()


@pytest.mark.parametrize("command", [(), ("-m", "firesteel.cli", "run")], ids=["python", "firesteel run"])
def test_a_program_that_fails_stops_its_jobs(tmp_path, command):
    with program(tmp_path, "stream().print(); env.execute_async(); 1 / 0", *command) as process:
        process.stdout.read()
    assert process.returncode == 1
    assert status(tmp_path) == "FINISHED"
    assert "ZeroDivisionError" in (tmp_path / "errors.txt").read_text()


def test_a_job_whose_results_nobody_reads_any_more_is_cancelled(tmp_path):
    with program(tmp_path, "print(next(stream().execute_and_collect()))") as process:
        assert process.stdout.read() == "0\n"
    assert process.returncode == 0
    assert status(tmp_path) == "CANCELED"


@pytest.mark.parametrize("command", [(), ("-m", "firesteel.cli", "run")], ids=["python", "firesteel run"])
def test_a_failure_that_the_program_has_not_seen_is_reported(tmp_path, command):
    failing = """
    stream().map(lambda value: 1 // (100 - value)).print()
    env.execute_async()
    import atexit
    atexit.register(print, "what others have registered")
    print("the end")"""
    with program(tmp_path, failing, *command) as process:
        printed = process.stdout.read()
    errors = (tmp_path / "errors.txt").read_text()
    assert errors.count("ZeroDivisionError: integer division or modulo by zero") == 1
    assert errors.count("program.py") >= 1
    assert "error: map" in errors
    assert "Firesteel: FIRESTEEL_DEBUG" not in errors
    assert process.returncode == 1
    assert "the end\n" in printed
    assert printed.endswith("what others have registered\n")
    assert status(tmp_path) == "FAILED"


def test_a_failure_that_the_program_has_seen_does_not_change_its_exit_code(tmp_path):
    failing = """
    env.from_collection([0]).map(lambda value: 1 // value).print()
    client = env.execute_async()
    try:
        client.get_job_execution_result().result()
    except Exception as error:
        print("seen")"""
    with program(tmp_path, failing) as process:
        assert process.stdout.read() == "seen\n"
    assert process.returncode == 0
    assert (tmp_path / "errors.txt").read_text() == ""
