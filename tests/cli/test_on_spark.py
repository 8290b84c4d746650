"""A job on Spark in a process of its own, controlled from other processes while files arrive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common import WatermarkStrategy
from firesteel.control.commands import read_status
from firesteel.datastream import StreamExecutionEnvironment
from tests.cli import gated
from tests.cli.driving import WAIT, WORDS, arrive, counts, driver, visible
from tests.recovery import ledger
from tests.recovery.jobs import Count

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PROGRAM = """
import sys

from firesteel.common import Duration, Types, WatermarkStrategy
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSource, StreamFormat
from firesteel.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()} {self.count.value()}"


env = StreamExecutionEnvironment.get_execution_environment()
lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "in")
lines = lines.monitor_continuously(Duration.of_millis(100)).build()
words = env.from_source(lines, WatermarkStrategy.no_watermarks(), "words").uid("words")
counts = words.key_by(lambda word: word).process(Count(), output_type=Types.STRING()).uid("counts")
counts.sink_to(FileSink(sys.argv[1], TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())).uid("out")
env.execute("words")
print("the end")
"""


@pytest.mark.long
def test_a_job_is_controlled_from_other_processes(tmp_path, run_python):
    def firesteel(*arguments: object) -> str:
        done = run_python("-m", "firesteel.cli", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    state = Storage.of(tmp_path / "states" / "first")
    (tmp_path / "in").mkdir()
    (tmp_path / "words.py").write_text(PROGRAM)
    arrive(tmp_path, "1.txt")
    with driver(tmp_path, "--state-dir", "states/first", "words.py", "first") as first:
        first.wait_for(lambda: visible(tmp_path / "first") == counts(0, 1))
        earlier = firesteel("savepoint", "states/first", "kept")
        assert firesteel("rescale", "states/first", 3) == "parallelism 3"
        arrive(tmp_path, "2.txt")
        first.wait_for(lambda: visible(tmp_path / "first").total() >= 2 * WORDS)
        first.wait_for(lambda: read_status(state).parallelism == 3)
        (listed,) = json.loads(firesteel("jobs", "--json", "states"))
        assert (listed["name"], listed["status"], listed["parallelism"]) == ("words", "RUNNING", 3)
        assert json.loads(firesteel("checkpoints", "--json", "states/first"))[-1]["parallelism"] == [3]
        later = firesteel("stop", "--savepoint", "states/first", "kept")
        assert first.end() == (0, "the end\n")
    assert visible(tmp_path / "first") == counts(0, 2)
    arrive(tmp_path, "3.txt")

    def starts_from(savepoint: str, files: int) -> None:
        name = Path(savepoint).name
        options = ("--from", savepoint, "--state-dir", f"states/{name}", "words.py", name)
        with driver(tmp_path, *options) as second:
            second.wait_for(lambda: visible(tmp_path / name).total() >= (3 - files) * WORDS)
            firesteel("cancel", f"states/{name}")
            second.end()
        assert visible(tmp_path / name) == counts(files, 3)

    starts_from(earlier, 1)
    starts_from(later, 2)


class UntilTheEnd(Count):
    """Puts the sum of a key out, too, as a negative number, when time has ended."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1_000_000)
        yield from super().process_element(value, ctx)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), -self.count.value()


@pytest.mark.long
def test_a_parallelism_is_kept_over_a_restart_and_a_job_is_drained(firesteel, tmp_path):
    def start():
        env = StreamExecutionEnvironment.get_execution_environment()
        source = gated.Gated(job.gate)
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
        counted = numbers.key_by(lambda value: value % 7).process(UntilTheEnd()).uid("count")
        counted.sink_to(ledger.LedgerSink(job.name)).uid("ledger")
        job.handle = env.execute_async("until the end")._handle

    def ask(*command):
        done = firesteel(*command)
        assert done.exit_code == 0, done.output
        return done.stdout

    def parallelism():
        return max(json.loads(ask("checkpoints", "--json", job.state))[-1]["parallelism"])

    with gated.running(tmp_path / "job", parallelism=2, on="spark") as job:
        start()
        job.read(15)
        assert parallelism() == 2
        assert ask("rescale", "--keep", job.state, 3) == "parallelism 3\n"
        job.read(20)
        assert parallelism() == 3
        ask("stop", job.state)
        job.handle.wait(WAIT)
        start()
        job.read(30)
        assert parallelism() == 3
        ask("stop", "--drain", job.state)
        job.handle.wait(WAIT)
        sums = [(key, -5 if key < 2 else -4) for key in range(7)]
        assert job.rows == sorted([*gated.counts(0, 30), *sums])
        job.let(gated.RECORDS)
        start()
        job.handle.wait(WAIT)
        assert job.rows == sorted([*gated.counts(0, 30), *sums])
