"""A cluster as users have it: a server process, and jobs that count words on Spark."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from firesteel.rest.client import ClusterClient
from firesteel.rest.records import JobRecord

PROGRAM = """
import sys

from firesteel.common import Duration, Encoder, Types, WatermarkStrategy
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from firesteel.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()} {self.count.value()}"


taken, put, name = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment()
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), taken)
source = source.monitor_continuously(Duration.of_millis(100)).build()
words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words").uid("words")
counts = words.key_by(lambda word: word).process(Count(), output_type=Types.STRING()).uid("counts")
sink = FileSink.for_row_format(put, Encoder.simple_string_encoder())
sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
counts.sink_to(sink).uid("put")
env.execute(name)
"""


class Served:
    """A cluster's directory, with the server that serves it and the jobs by name."""

    program = PROGRAM

    def __init__(self, directory: Path, *options: str) -> None:
        self.directory = directory
        self.options = options
        self.cluster = directory / "cluster"
        self.jobs: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        command = ["cluster", "start", str(self.cluster), "--port", "0", "--slots", "8", *self.options]
        self.client = ClusterClient(self.firesteel(*command).strip())

    def firesteel(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "firesteel.cli", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, name: str, *options: str, text: str | None = None) -> None:
        """Start a job of this name: the program that counts words, unless the text of another one is given."""
        self.feed(name, "a\nb\na\n")
        program = self.directory / ("count.py" if text is None else f"{name}.py")
        program.write_text(self.program if text is None else text)
        where = (str(self.taken(name)), str(self.put(name)), name)
        command = (
            "run",
            "--cluster",
            self.client.url,
            *(() if "-p" in options else ("-p", "2")),
            *options,
            str(program),
            *where,
        )
        self.jobs[name] = self.firesteel(*command).strip().rpartition("/")[2]

    def feed(self, name: str, words: str) -> None:
        """Give a job another file of words."""
        place = self.taken(name)
        place.mkdir(parents=True, exist_ok=True)
        hidden = place / f".{uuid.uuid4().hex}"
        hidden.write_text(words)
        hidden.rename(place / hidden.name[1:])

    def taken(self, name: str) -> Path:
        return self.directory / name / "in"

    def put(self, name: str) -> Path:
        return self.directory / name / "out"

    def counts(self, name: str) -> list[str]:
        parts = [file for file in self.put(name).rglob("*") if file.is_file() and file.name[0] not in "._"]
        return sorted(line for part in parts for line in part.read_text().splitlines())

    def record(self, name: str) -> JobRecord:
        return JobRecord(self.cluster / "jobs" / self.jobs[name])

    def ask(self, path: str) -> Any:
        return self.client.ask("GET", path)

    def status(self, name: str) -> str:
        status: str = self.ask(f"/jobs/{self.jobs[name]}/status")["status"]
        return status
