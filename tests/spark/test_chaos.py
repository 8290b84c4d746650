"""A short form of the chaos suite (`./run chaos`), and what it rests on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter

import pytest

from chaos.__main__ import report, report_service
from chaos.events import Event, FileFeed, closing
from chaos.kafka_job import KafkaJob
from chaos.plan import steps
from chaos.program import SPAN_MS, by_key, by_time, results_of
from chaos.run import Run, Visible
from chaos.service import ServiceRun, service_steps
from chaos.sql_job import SqlJob
from chaos.stream_job import StreamJob, expected_results, expected_totals
from firesteel.common import Types
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing
from harness.postgres import binaries

needs_postgres = pytest.mark.skipif(
    binaries() is None, reason="no PostgreSQL server here; ./run test installs one"
)


@pytest.mark.spark
@pytest.mark.xdist_group("spark-cluster")
@pytest.mark.timeout(900)
@needs_postgres
@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "victims"),
    [
        (286, ["executor", "machine"]),
        pytest.param(83, ["worker", "executor", "machine"], marks=pytest.mark.thorough),
    ],
)
def test_a_job_that_is_killed_rescaled_and_restored_loses_nothing_and_repeats_nothing(
    tmp_path, seed, victims
):
    # The kill of the machine and the server's come while a commit is under way.
    run, kills = Run(StreamJob(), tmp_path, seed, print), len(victims)
    outcome = run(kills=kills, savepoints=1, rescales=1, database_failures=1)
    assert outcome.differences == [], report(outcome)
    assert outcome.kills == kills
    assert outcome.counts["savepoint and restore"] == outcome.counts["database killed"] == 1
    assert {"rescale to 3", *(f"kill {victim}" for victim in victims)} <= set(outcome.counts)


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark-cluster")
@pytest.mark.timeout(900)
@needs_postgres
@pytest.mark.parametrize(
    ("job", "server"), [(SqlJob(), "database"), (KafkaJob(), "broker")], ids=["sql", "kafka"]
)
def test_a_job_that_is_killed_loses_nothing_and_repeats_nothing(tmp_path, job, server):
    # The machine and the server are killed while a commit is under way.
    outcome = Run(job, tmp_path, 215, print)(kills=2, savepoints=0, rescales=0, database_failures=1)
    assert outcome.differences == [], report(outcome)
    assert outcome.kills == 2
    assert {"kill machine", "kill executor", f"{server} killed"} <= set(outcome.counts)


@pytest.mark.spark
@pytest.mark.xdist_group("spark-cluster")
@pytest.mark.timeout(900)
@pytest.mark.long
def test_a_cluster_whose_processes_are_killed_loses_no_job_and_runs_none_twice(tmp_path):
    outcome = ServiceRun(tmp_path, 3, print, session=True)(5)
    assert outcome.differences == [], report_service(outcome)
    assert {f"kill {victim}" for victim in ("server", "session", "driver", "jvm", "worker")} <= {
        *outcome.counts
    }
    assert {"submit", "savepoint", "stop"} <= set(outcome.counts)


def test_a_seed_gives_the_same_steps_of_a_service():
    def drawn(seed):
        return service_steps(seed, 40, session=True)

    assert drawn(1) == drawn(1) != drawn(2)
    assert {*Counter(step.victim for step in drawn(1)).values()} == {8}


def test_a_seed_gives_the_same_steps():
    def drawn(seed):
        return list(steps(seed, kills=50, savepoints=2, rescales=6, database_failures=2))

    assert drawn(1) == drawn(1) != drawn(2)
    acts = Counter(step.act for step in drawn(1))
    assert acts == {"kill": 50, "savepoint": 2, "rescale": 6, "database": 2}
    assert [step.parallelism for step in drawn(1) if step.act == "rescale"] == [3, 1, 2] * 2


_OWNER = """
import subprocess, sys, time
from pathlib import Path
from harness.guard import guard

guard().remove(Path(sys.argv[1]))
for program in ("sleep 600 & sleep 600", "exec sleep 600"):
    started = subprocess.Popen(["sh", "-c", program], start_new_session=True)
    guard().watch(started.pid)
started.kill()
started.wait()
guard().forget(started.pid)
print("ready", flush=True)
time.sleep(600)
"""


def test_what_a_run_starts_ends_with_it(tmp_path, project):
    (tmp_path / "place" / "inner").mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(tmp_path / "place")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(project)},
    ) as owner:
        assert owner.stdout.readline() == "ready\n"
        owner.send_signal(signal.SIGKILL)
        # The output ends when all who have it have ended.
        assert owner.communicate(timeout=30) == ("", None)
    assert not (tmp_path / "place").exists()


def test_the_model_of_an_uninterrupted_run():
    events = [
        Event(0, "a", 0, 500),
        Event(1, "a", 1_999, 700),
        Event(2, "a", 2_000, -600),
        Event(3, "b", 1, -501),
    ]
    sums = ("a,0,2,1200", "a,2000,1,-600", "b,0,1,-501")
    assert expected_results(events, 2_000) == Counter(
        [
            *(f"{kind},{line}" for kind in ("timer", "window") for line in sums),
            *("high,a,0,1,500", "fall,a,1999,2,100"),
        ]
    )
    assert expected_totals(events) == {"a": 3, "b": 1}


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_run_in_process_gives_what_the_model_says(tmp_path, parallelism):
    feed = FileFeed(tmp_path / "input", 3)
    feed.more(10)
    lines = [event.text for event in (*feed.events, closing())]
    with executing(epoch_records=300):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(parallelism)
        given = env.from_collection(lines, Types.STRING())
        results = results_of(by_key(given.assign_timestamps_and_watermarks(by_time())))
        shown = results.map(lambda row: ",".join(map(str, row)), Types.STRING())
        with shown.execute_and_collect() as found:
            counted = Counter(line for line in found if ",closing," not in line)
    assert counted == expected_results(feed.events, SPAN_MS)
    assert {"fall", "high"} <= {line.partition(",")[0] for line in counted}


def test_lines_are_counted_once_and_only_when_visible(tmp_path):
    visible = Visible(tmp_path)
    (tmp_path / ".part-0.inprogress").write_text("seen,1\n")
    assert visible.update() == 0
    (tmp_path / "part-0").write_text("seen,1\nwindow,a,0,1,1\n")
    assert visible.update() == visible.update() == 1
    assert visible.lines == {"seen,1": 1, "window,a,0,1,1": 1}


def test_files_arrive_whole_and_in_the_order_of_time(tmp_path):
    feed = FileFeed(tmp_path / "input", 1)
    feed.more(3)
    feed.close()
    assert [path.name for path in sorted((tmp_path / "input").iterdir())] == [
        f"{number:06d}.csv" for number in range(4)
    ]
    lines = (tmp_path / "input" / "000001.csv").read_text().splitlines()
    assert lines == [event.text for event in feed.events[200:400]]
    assert {event.time // 1_000 for event in feed.events[200:400]} == {1}


def test_the_model_of_an_uninterrupted_run_of_sql():
    job = SqlJob()
    events = [
        Event(0, "a", 100, 5),
        Event(1, "a", 2_500, -2),
        Event(2, "a", 2_900, -102),
        Event(3, "b", 3_000, 5),
    ]
    start = "1970-01-01 00:00:0"
    assert job.results(events[:3]) == Counter(
        [
            *(f"tumble,a,{start}0.000,1,5", f"tumble,a,{start}2.000,2,-104"),
            *("hop,a,1969-12-31 23:59:58.000,1,5", "hop,a,1969-12-31 23:59:59.000,1,5"),
            *(f"hop,a,{start}0.000,3,5", f"hop,a,{start}1.000,2,-2", f"hop,a,{start}2.000,2,-2"),
            *(f"session,a,{start}0.100,1,5", f"session,a,{start}2.500,2,-104"),
            *("over,0,1,5", "over,1,2,3", "over,2,3,-99"),
        ]
    )
    assert job.in_tables(events) == {
        "totals": Counter([("a", 3, -99, -102, 2), ("b", 1, 5, 5, 1), ("closing", 1, 0, 0, 1)]),
        "counts": Counter([(3, 1, "a"), (1, 2, "closing")]),
        "later": Counter([(0, None, 5), (1, None, -2), (2, None, -102), (3, None, 5), (-1, None, 0)]),
        "leaders": Counter([(3, 1, "a", -99, 1), (1, 1, "b", 5, 2), (1, 2, "closing", 0, 2)]),
    }
