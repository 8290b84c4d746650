"""Standard output that cannot take a record's characters, and one that nobody reads any more."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from firesteel.common.errors import OutputClosedError
from firesteel.connectors.print_sink import PrintedLines, PrintSink
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

PROGRAM = """
from firesteel.common import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.number_seq import NumberSequenceSource
from firesteel.testing import executing

with executing(epoch_records=100, state_dir="state"):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    source = NumberSequenceSource(1, 1_000_000_000)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").print()
    env.execute("numbers")
"""
GUARDED = (
    "import sys; from pathlib import Path; from firesteel.cli.program import Program, run_guarded; "
    "sys.exit(run_guarded(Program(Path('program.py'))))"
)


def test_characters_that_the_stream_lacks_are_replaced(monkeypatch):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stdout)
    with executing(epoch_records=1):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        env.from_collection(["plain", "füße", "\ud800"]).print()
        env.execute()
    assert stdout.buffer.getvalue() == b"plain\nf??e\n?\n"


def test_a_surrogate_is_replaced_in_utf_8_too(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    PrintSink().create_committer().commit([PrintedLines("writer", 0, "ä \ud800\n")])
    assert stream.buffer.getvalue() == "ä ?\n".encode()


def test_a_closed_pipe_is_reported_once_and_swallows_what_follows(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:  # noqa: PTH123 (a descriptor)
        monkeypatch.setattr(sys, "stdout", stream)
        committer = PrintSink().create_committer()
        with pytest.raises(OutputClosedError, match="requires a reader of standard output"):
            committer.commit([PrintedLines("writer", 0, "1\n")])
        committer.commit([PrintedLines("writer", 1, "2\n")])


@pytest.mark.parametrize(("command", "exit_code"), [(["program.py"], 1), (["-c", GUARDED], 141)])
def test_a_program_whose_reader_goes_ends_without_a_word(
    tmp_path: Path, command: list[str], exit_code: int
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "1\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(120) == exit_code
    process.stderr.close()
