"""Queries of some partitions of a directory that is watched: another version of them reads others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from firesteel.control import EpochStats, JobHandle
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.recovery.jobs import Watch

DAYS = {"mon": 7, "tue": 11, "wed": 13}
PER_FILE = 300

Sums = dict[str, tuple[int, int]]


def rows_of(day: str) -> list[int]:
    return [number * DAYS[day] for number in range(2 * PER_FILE)]


def summed(*days: str) -> Sums:
    """Return what is to be seen of some days, by day: how many rows there are, and their sum."""
    return {day: (len(rows_of(day)), sum(rows_of(day))) for day in days}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the directory of a job, with two files for each day, and empty tables for its answers."""
    for day in DAYS:
        folder = tmp_path / "in" / f"day={day}"
        folder.mkdir(parents=True)
        for half in range(2):
            numbers = rows_of(day)[half * PER_FILE : (half + 1) * PER_FILE]
            (folder / f"{half}.json").write_text("".join(json.dumps({"v": one}) + "\n" for one in numbers))
    with sqlite3.connect(tmp_path / "result.db") as connection:
        for name in ("early", "late"):
            connection.execute(f"CREATE TABLE {name} (d TEXT PRIMARY KEY, n INTEGER, s INTEGER)")
    return tmp_path


def visible(home: Path, name: str) -> Sums:
    with sqlite3.connect(home / "result.db") as connection:
        return {day: (count, total) for day, count, total in connection.execute(f"SELECT * FROM {name}")}


def run(
    home: Path, conditions: Mapping[str, str], until: Mapping[str, Sums], epochs: int | None = None
) -> None:
    """Run an INSERT for each table until there is what is expected, or for some epochs, and stop with a savepoint."""
    count = 0

    def act(handle: JobHandle, stats: EpochStats) -> None:
        nonlocal count
        count += 1
        if count == epochs or all(visible(home, name) == expected for name, expected in until.items()):
            handle.stop(str(home / "savepoints"))

    watch = Watch(act)
    with executing(state_dir=str(home / "state"), parallelism=2, listener=watch, epoch_records=17):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set("restart-strategy.type", "none").set("pipeline.name", "days")
        env.execute_sql(
            "CREATE TABLE given (v BIGINT, `day` STRING) PARTITIONED BY (`day`) WITH ('connector' = 'filesystem', "
            f"'path' = '{home}/in', 'format' = 'json', 'source.monitor-interval' = '20 ms')"
        )
        statements = env.create_statement_set()
        for name, condition in conditions.items():
            env.execute_sql(
                f"CREATE TABLE {name} (d STRING, n BIGINT, s BIGINT, PRIMARY KEY (d) NOT ENFORCED) WITH "
                f"('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{home / 'result.db'}', 'table-name' = '{name}')"
            )
            query = f"SELECT `day`, COUNT(*), SUM(v) FROM given WHERE {condition} GROUP BY `day`"
            statements.add_insert_sql(f"INSERT INTO {name} {query}")
        job = statements.execute().job
        assert job is not None
        watch.follow(job).wait(120)


def test_partitions_that_were_left_out_are_read_then(home: Path) -> None:
    run(home, {"early": "`day` = 'mon'"}, {"early": summed("mon")})
    run(home, {"early": "TRUE"}, {"early": summed("mon", "tue", "wed")})
    assert visible(home, "early") == summed("mon", "tue", "wed")


def test_what_was_begun_is_not_read_on_if_it_is_left_out(home: Path) -> None:
    run(home, {"early": "`day` <> 'wed'"}, {"early": summed("mon", "tue")}, epochs=1)
    begun = visible(home, "early")
    assert 0 < sum(count for count, _ in begun.values()) < 2 * 2 * PER_FILE
    run(home, {"early": "`day` = 'wed'"}, {"early": begun | summed("wed")})
    assert visible(home, "early") == begun | summed("wed")


def test_readers_of_different_partitions_keep_their_positions_in_another_order(home: Path) -> None:
    both = {"early": "`day` = 'mon'", "late": "`day` = 'tue'"}
    run(home, both, {"early": summed("mon"), "late": summed("tue")}, epochs=1)
    assert {**visible(home, "early"), **visible(home, "late")} != summed("mon", "tue")
    again = dict(reversed(both.items()))
    run(home, again, {"early": summed("mon"), "late": summed("tue")})
    assert visible(home, "early") == summed("mon")
    assert visible(home, "late") == summed("tue")
