"""Jobs of a session share one Spark application, and fail, end, die and go on alone."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import StateError
from harness.waiting import until
from tests.rest.served import Served

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(600),
]

PROGRAM = """
import logging
import os
import sys
import time
from pathlib import Path

from firesteel.common import Duration, Encoder, Types, WatermarkStrategy
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from firesteel.datastream.state import ValueStateDescriptor


def first_time(marker):
    path = Path(marker)
    if path.exists():
        return False
    path.touch()
    return True


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        what, _, marker = value.partition(":")
        if what == "fail" and first_time(marker):
            raise ValueError("this word is bad")
        if what == "stay" and first_time(marker):
            time.sleep(3600)
        if what == "exit" and first_time(marker):
            os._exit(1)
        if what == "say":
            print("printed", marker)
            logging.getLogger("words").warning("logged %s", marker)
        if what == "KEY":
            yield os.environ.get("KEY", "none")
            return
        self.count.update((self.count.value() or 0) + 1)
        yield f"{what} {self.count.value()}"

    def close(self):
        (Path(put).parent / "closed").touch()


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

RETRYING = (
    *("--conf", "restart-strategy.type=fixed-delay", "--conf", "restart-strategy.fixed-delay.delay=100 ms"),
    *("--conf", "restart-strategy.fixed-delay.attempts=2"),
)
START = ["a 1", "a 2", "b 1"]


class Session(Served):
    """A cluster with a session, of which the jobs `one` and `two` run from the beginning to the end."""

    program = PROGRAM

    def start(self) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("KEY", "hidden")
            super().start()

    def pid(self, name: str) -> int:
        driver = self.record(name).driver()
        assert driver is not None
        return driver.pid

    def keeper(self) -> int:
        found: int = json.loads((self.cluster / "session" / "process.json").read_text())["pid"]
        return found

    def mark(self, name: str) -> Path:
        return self.directory / f"mark-{name}"

    def begin(self, name: str, *options: str) -> None:
        """Run a job until it has counted its first words."""
        self.run(name, *options)
        until(lambda: self.counts(name) == START)

    def others_go_on(self) -> None:
        """Give `one` a new word, and wait until it is counted."""
        before = self.counts("one")
        self.feed("one", "a\n")
        until(lambda: len(self.counts("one")) == len(before) + 1)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = Session(tmp_path_factory.mktemp("session"), "--session", "--secret", "KEY")
    try:
        made.run("one")
        made.begin("two")
        until(lambda: made.counts("one") == START)
        yield made
    finally:
        made.firesteel("cluster", "stop", str(made.cluster))


def children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


@pytest.fixture
def undisturbed(session: Session) -> Iterator[None]:
    """At the end the jobs `one` and `two` have the drivers that they had, which have begun no epoch anew."""
    before = session.pid("one"), session.pid("two"), session.keeper()
    yield
    session.others_go_on()
    assert (session.pid("one"), session.pid("two"), session.keeper()) == before
    assert session.record("two").deaths() == ()
    assert "restarted" not in session.record("one").log.read_text()
    assert (session.status("one"), session.status("two")) == ("RUNNING", "RUNNING")


@pytest.mark.usefixtures("undisturbed")
def test_jobs_share_one_jvm(session: Session):
    assert children(session.pid("one")) == children(session.pid("two")) == []
    assert len(children(session.keeper())) == 1


@pytest.mark.usefixtures("undisturbed")
def test_the_drivers_of_a_session_show_its_jvm(session: Session):
    managers = [manager["id"] for manager in session.ask("/taskmanagers")["taskmanagers"]]
    shown = [session.ask(f"/taskmanagers/{manager}")["metrics"] for manager in managers]
    assert len({figures["heapMax"] for figures in shown}) == 1
    assert all(0 < figures["heapUsed"] <= figures["heapMax"] for figures in shown)
    threads = session.ask(f"/taskmanagers/{managers[0]}/thread-dump")["threadInfos"]
    assert {"MainThread", "firesteel-inbox", "Finalizer"} <= {thread["threadName"] for thread in threads}


@pytest.mark.usefixtures("undisturbed")
def test_what_functions_print_and_log_says_of_which_job_it_is(session: Session):
    session.begin("saying", "--conf", "firesteel.logging.format=json")
    for name in ("one", "saying"):
        session.feed(name, f"say:{name}\n")
        until(lambda name=name: "say 1" in session.counts(name))
    log = session.cluster / "session" / "session.log"
    until(lambda: {"printed", "logged"} <= {line["message"].partition(" ")[0] for line in said_as_json(log)})
    for line in said_as_json(log):
        assert (line["job_id"], line["job_name"]) == (session.jobs["saying"], "saying")
        assert (line["operator"], line["parallelism"]) == ("KEYED PROCESS", 2)
        assert line["epoch"] >= 2
    mark = r"\[one epoch \d+ KEYED PROCESS \([12]/2\)\]"
    for line in (rf"^{mark} printed one$", rf"^\d{{4}}-\S+ \S+ WARNING {mark} logged one$"):
        until(lambda line=line: re.search(line, log.read_text(), re.MULTILINE))
    session.client.ask("PATCH", f"/jobs/{session.jobs['saying']}")
    until(lambda: session.status("saying") == "CANCELED")


def said_as_json(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


@pytest.mark.usefixtures("undisturbed")
def test_a_job_that_fails_fails_alone(session: Session):
    session.begin("failing")
    session.feed("failing", f"fail:{session.mark('failing')}\n")
    until(lambda: session.status("failing") == "FAILED")
    entries = session.ask(f"/jobs/{session.jobs['failing']}/exceptions")["exceptionHistory"]["entries"]
    assert "this word is bad" in entries[0]["stacktrace"]


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("how", ["fail", pytest.param("exit", marks=pytest.mark.thorough)])
def test_a_job_with_a_restart_strategy_goes_on_alone(session: Session, how: str):
    name = f"again-{how}"
    session.begin(name, *RETRYING)
    session.feed(name, f"{how}:{session.mark(name)}\n")
    until(lambda: session.counts(name) == sorted([*START, f"{how} 1"]))
    assert session.mark(name).exists()
    session.firesteel("cancel", f"{session.client.url}/jobs/{session.jobs[name]}")
    until(lambda: session.status(name) == "CANCELED")


@pytest.mark.usefixtures("undisturbed")
def test_cancelling_a_job_ends_its_tasks_alone(session: Session):
    session.begin("busy")
    session.feed("busy", f"stay:{session.mark('busy')}\n")
    until(session.mark("busy").exists)
    session.client.ask("PATCH", f"/jobs/{session.jobs['busy']}")
    until(lambda: session.status("busy") == "CANCELED")
    assert "close the job's functions later" not in session.record("busy").log.read_text()
    until(lambda: not session.record("busy").driver_lives())


@pytest.mark.usefixtures("undisturbed")
def test_the_tasks_of_a_dead_driver_are_cancelled_and_the_next_one_goes_on(session: Session):
    session.begin("dying")
    session.feed("dying", f"stay:{session.mark('dying')}\n")
    until(session.mark("dying").exists)
    os.kill(session.pid("dying"), signal.SIGKILL)
    until(lambda: session.counts("dying") == [*START, "stay 1"])
    assert [death.attempt for death in session.record("dying").deaths()] == [1]
    session.firesteel("stop", f"{session.client.url}/jobs/{session.jobs['dying']}")
    until(lambda: session.status("dying") == "FINISHED")


@pytest.mark.usefixtures("undisturbed")
def test_a_job_that_does_not_fit_waits_and_says_why(session: Session):
    session.run("large", "-p", "5")
    about = f"/jobs/{session.jobs['large']}"
    until(lambda: session.ask(about)["status-reason"])
    assert session.ask(about)["state"] == "CREATED"
    assert session.ask(about)["status-reason"] == "requires 5 slots; of 8, 4 are free"
    session.run("small")
    until(lambda: session.ask(f"/jobs/{session.jobs['small']}")["status-reason"])
    reason = session.ask(f"/jobs/{session.jobs['small']}")["status-reason"]
    assert reason == f"waits for an earlier job ({session.jobs['large']})"
    session.client.ask("PATCH", about)
    until(lambda: session.counts("small") == START)
    assert session.ask(f"/jobs/{session.jobs['small']}")["status-reason"] is None
    session.client.ask("PATCH", f"/jobs/{session.jobs['small']}")
    until(lambda: session.status("small") == "CANCELED")


@pytest.mark.usefixtures("undisturbed")
def test_a_secret_is_in_the_workers_of_its_job_alone(session: Session):
    session.begin("asking", "--secret", "KEY")
    session.feed("asking", "KEY\n")
    session.feed("two", "KEY\n")
    until(lambda: "hidden" in session.counts("asking") and "none" in session.counts("two"))
    session.client.ask("PATCH", f"/jobs/{session.jobs['asking']}")
    until(lambda: session.status("asking") == "CANCELED")
    until(lambda: (session.directory / "asking" / "closed").exists())
    assert "close the job's functions later" not in session.record("asking").log.read_text()


@pytest.mark.usefixtures("undisturbed")
def test_a_program_does_not_stop_the_sessions_application(session: Session):
    program = session.directory / "stopping.py"
    program.write_text("from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate().stop()\n")
    said = session.firesteel("run", "--cluster", session.client.url, str(program))
    session.jobs["stopping"] = said.strip().rpartition("/")[2]
    until(lambda: session.status("stopping") == "FINISHED")
    assert "belongs to the session" in session.record("stopping").log.read_text()


def test_settings_of_the_application_are_not_a_jobs(session: Session):
    with pytest.raises(AssertionError, match=r"spark.executor.memory: the jobs of this cluster share"):
        session.run("own", "--conf", "spark.executor.memory=2g")


@pytest.mark.thorough
def test_when_the_session_dies_all_its_jobs_go_on_in_the_next(session: Session):
    before = session.keeper(), session.pid("one"), session.pid("two")
    one, two = session.counts("one"), session.counts("two")
    os.kill(before[0], signal.SIGKILL)
    session.feed("one", "c\n")
    session.feed("two", "c\n")
    until(lambda: session.counts("one") == sorted([*one, "c 1"]))
    until(lambda: session.counts("two") == sorted([*two, "c 1"]))
    assert not {session.keeper(), session.pid("one"), session.pid("two")} & {*before}
    assert session.record("one").deaths() == session.record("two").deaths() == ()


def test_when_the_jvm_dies_all_its_jobs_go_on_in_the_next(session: Session):
    one, before = session.counts("one"), session.keeper()
    session.feed("one", f"stay:{session.mark('jvm')}\n")
    until(session.mark("jvm").exists)
    (jvm,) = children(before)
    os.kill(jvm, signal.SIGKILL)
    until(lambda: session.counts("one") == sorted([*one, "stay 1"]))
    assert session.keeper() != before
    assert session.record("one").outcome() is None


@pytest.mark.thorough
def test_a_server_that_is_killed_costs_jobs_nothing(session: Session):
    before = session.keeper(), session.pid("one"), session.pid("two")
    os.kill(json.loads((session.cluster / "server.json").read_text())["pid"], signal.SIGKILL)
    session.others_go_on()
    session.start()
    session.others_go_on()
    assert (session.keeper(), session.pid("one"), session.pid("two")) == before


def test_two_jobs_may_give_one_name_to_two_modules(session: Session):
    for name in ("seven", "eight"):
        place = session.directory / f"package-{name}"
        place.mkdir()
        (place / "spice.py").write_text(f"def word():\n    return '{name}'\n")
        text = PROGRAM.replace("import os\n", "import os\nimport spice\n", 1).replace(
            '"none"', "spice.word()"
        )
        (place / "main.py").write_text(text)
        session.feed(name, "KEY\n")
        where = (str(session.taken(name)), str(session.put(name)), name)
        packed = ("--py-files", str(place / "spice.py"))
        address = session.firesteel(
            *("run", "--cluster", session.client.url, "-p", "1", *packed, str(place / "main.py"), *where)
        )
        session.jobs[name] = address.strip().rpartition("/")[2]
    for name in ("seven", "eight"):
        until(lambda name=name: session.counts(name) == [name])
        session.client.ask("PATCH", f"/jobs/{session.jobs[name]}")


def test_a_stopped_cluster_has_no_process_left_and_goes_on(session: Session):
    processes = session.keeper(), session.pid("one"), session.pid("two")
    session.firesteel("cluster", "stop", str(session.cluster))
    # What had another parent is there until the system has taken note of its end.
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))
    with pytest.raises(StateError):
        session.ask("/overview")
    session.start()
    session.others_go_on()
