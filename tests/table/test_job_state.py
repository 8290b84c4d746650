"""Each INSERT of a program is a job with a state of its own, which is found when the program is started again."""

from __future__ import annotations

from pathlib import Path

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

NUMBERS = """
CREATE TABLE numbers (n BIGINT) WITH (
    'connector' = 'datagen', 'rows-per-second' = '1000000', 'fields.n.kind' = 'sequence',
    'fields.n.start' = '1', 'fields.n.end' = '4'
)
"""
SINK = "CREATE TABLE {} (n BIGINT) WITH ('connector' = 'print')"


def program(state: Path) -> None:
    with executing(state_dir=str(state), parallelism=1):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.execute_sql(NUMBERS)
        for sink in ("a", "b"):
            env.execute_sql(SINK.format(sink))
        env.execute_sql("INSERT INTO a SELECT n FROM numbers").wait()
        env.execute_sql("INSERT INTO b SELECT n FROM numbers").wait()
        env.execute_sql("INSERT INTO b SELECT -n FROM numbers").wait()


def test_jobs_of_a_program_do_not_continue_each_other(tmp_path, capfd):
    program(tmp_path)
    printed = capfd.readouterr().out.split("\n")
    assert sum("+I[" in line for line in printed) == 12
    directories = sorted(path.name for path in tmp_path.iterdir())
    begin = "insert-into_default_catalog.default_database"
    assert directories == [f"{begin}.a", f"{begin}.b", f"{begin}.b-2"]


def test_a_program_that_is_started_again_finds_the_states_of_its_jobs(tmp_path, capfd):
    program(tmp_path)
    capfd.readouterr()
    program(tmp_path)
    assert "+I[" not in capfd.readouterr().out


def test_queries_leave_no_state(tmp_path):
    with executing(state_dir=str(tmp_path), parallelism=1):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.execute_sql(NUMBERS)
        for _ in range(2):
            with env.execute_sql("SELECT COUNT(*) FROM numbers").collect() as rows:
                assert [tuple(row) for row in rows][-1] == (4,)
    assert list(tmp_path.iterdir()) == []


def test_the_job_of_a_program_in_a_cluster_has_the_programs_directory(tmp_path):
    with executing(state_dir=str(tmp_path / "state"), parallelism=1, job_id="0" * 31 + "1"):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.execute_sql(NUMBERS)
        env.execute_sql(SINK.format("a"))
        env.execute_sql("INSERT INTO a SELECT n FROM numbers").wait()
    assert (tmp_path / "state" / "job.json").is_file()
