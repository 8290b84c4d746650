"""Partitions of tables of files that are committed: when, by what, and once more for what comes late."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, UnsupportedError
from firesteel.connectors.tables.partition_time import PartitionTime
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Leftovers, WriterContext
from tests.connectors.column_ends import request

COLUMNS = "n INT, dt STRING, hr STRING"
POLICY = {"sink.partition-commit.policy.kind": "success-file"}
BY_TIME = {
    **POLICY,
    "sink.partition-commit.trigger": "partition-time",
    "partition.time-extractor.timestamp-pattern": "$dt $hr:00:00",
}
HOUR = 3_600_000


class Table:
    """A table of files, written by several subtasks epoch by epoch."""

    def __init__(self, path: Path, options: dict[str, str], form: str = "json", subtasks: int = 1) -> None:
        given = {"path": str(path), "format": form, **options}
        connector = connector_of("filesystem", "table 't'")
        self.sink = connector.sink(request(COLUMNS, given, partitions=["dt", "hr"])).sink
        self.path = path
        self.states: list[Any] = [None] * subtasks
        self.epoch = 0
        self.wakeups: list[int | None] = []

    def run(
        self,
        *hours: list[int],
        now: int = 0,
        watermark: int = -(2**63),
        final: bool = False,
        commits: int = 1,
        inherited: tuple[Any, ...] = (),
    ) -> list[str]:
        """Write a row for each hour of the first of January 1970, subtask by subtask; return what is committed."""
        self.epoch += 1
        committables: list[Any] = []
        states, self.wakeups = list(self.states), []
        for subtask, mine in enumerate(hours):
            facts = EpochFacts(self.epoch, "try", now, final)
            writer = self.sink.create_writer(
                WriterContext(
                    "job",
                    "sink",
                    subtask,
                    len(hours),
                    facts,
                    states[subtask],
                    inherited if not subtask else (),
                )
            )
            if mine:
                writer.write_columns(_rows(mine), None)
            writer.advance_watermark(watermark)
            try:
                committables.extend(writer.prepare_commit())
            except ConnectorError:
                writer.abort()
                raise
            states[subtask] = writer.snapshot_state()
            self.wakeups.append(writer.next_wakeup())
        self.states = states
        for _ in range(commits):
            self.sink.create_committer().commit(committables)
        return self.committed()

    def committed(self, name: str = "_SUCCESS") -> list[str]:
        return sorted(path.parent.name for path in self.path.rglob(name))

    def forget(self) -> None:
        for path in self.path.rglob("_SUCCESS"):
            path.unlink()

    def rows(self, hour: int) -> int:
        parts = (self.path / "dt=1970-01-01" / f"hr={hour}").glob("*part-*")
        return sum(len(part.read_text().splitlines()) for part in parts if not part.name.startswith("."))


def _rows(hours: list[int]) -> pa.RecordBatch:
    columns: list[Any] = [
        pa.array(range(len(hours)), pa.int32()),
        ["1970-01-01"] * len(hours),
        list(map(str, hours)),
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], ["n", "dt", "hr"])


@pytest.mark.parametrize("form", ["json", "csv"])
def test_without_delay_a_partition_is_committed_with_the_epoch_of_its_rows(tmp_path: Path, form: str) -> None:
    table = Table(tmp_path, POLICY, form)
    assert table.run([1, 2], commits=2) == ["hr=1", "hr=2"]
    assert (table.rows(1), table.rows(2)) == (1, 1)
    table.forget()
    assert table.run([]) == []
    assert table.run([2, 3]) == ["hr=2", "hr=3"]
    assert table.rows(2) == 2


def test_after_a_delay_of_processing_time(tmp_path: Path) -> None:
    table = Table(tmp_path, {**POLICY, "sink.partition-commit.delay": "1 h"}, "csv")
    assert table.run([1], now=5) == []
    assert table.wakeups == [HOUR + 6]
    assert table.run([2], now=HOUR + 5) == []
    assert table.run([], now=HOUR + 6) == ["hr=1"]
    assert table.rows(1) == 1
    assert table.run([], now=2 * HOUR + 6) == ["hr=1", "hr=2"]


def test_when_the_watermark_has_passed_the_partitions_time(tmp_path: Path) -> None:
    table = Table(tmp_path, {**BY_TIME, "sink.partition-commit.delay": "1 h"})
    assert table.run([0, 1]) == []
    assert table.rows(0) == 0
    assert table.run([], watermark=HOUR) == []
    assert table.run([], watermark=HOUR + 1) == ["hr=0"]
    assert table.rows(0) == 1
    table.forget()
    assert table.run([0], watermark=HOUR + 2) == ["hr=0"]  # a late row
    assert table.rows(0) == 2
    assert table.run([], watermark=2 * HOUR + 1) == ["hr=0", "hr=1"]


def test_the_end_of_the_input_commits_all(tmp_path: Path) -> None:
    table = Table(tmp_path, BY_TIME)
    table.run([3])
    assert table.run([4], final=True) == ["hr=3", "hr=4"]


def test_a_partition_waits_for_all_subtasks(tmp_path: Path) -> None:
    table = Table(tmp_path, {**POLICY, "sink.partition-commit.delay": "1 h"}, subtasks=2)
    assert table.run([1], [], now=0) == []
    assert table.run([], [1], now=10) == []
    assert table.run([], [], now=HOUR + 1) == []
    assert table.run([], [], now=HOUR + 11) == ["hr=1"]
    assert table.rows(1) == 2


def test_what_waits_survives_a_lower_parallelism(tmp_path: Path) -> None:
    table = Table(tmp_path, BY_TIME, subtasks=2)
    assert table.run([1], [2]) == []
    left = table.states.pop()
    assert table.run([], inherited=(left,)) == []
    assert table.rows(2) == 1
    assert table.run([], watermark=2 * HOUR + 1) == ["hr=1", "hr=2"]


def test_leftovers_are_removed_and_what_states_need_stays(tmp_path: Path) -> None:
    table = Table(tmp_path, BY_TIME)
    table.run([1])
    kept = list(tmp_path.rglob(".part*"))
    facts = EpochFacts(2, "lost", 0)
    lost = table.sink.create_writer(WriterContext("job", "sink", 0, 1, facts, table.states[0]))
    lost.write_columns(_rows([5]), None)
    lost.prepare_commit()
    table.sink.create_committer().discard(Leftovers("job", "sink", 2, tuple(table.states)))
    assert list(tmp_path.rglob(".part*")) == kept


@pytest.mark.parametrize("partitions", [["dt", "hr"], []])
def test_a_job_in_batch_mode_commits_at_its_end(tmp_path: Path, partitions: list[str]) -> None:
    given = {"path": str(tmp_path), "format": "csv", **BY_TIME, "auto-compaction": "true"}
    asked = replace(request(COLUMNS, given, partitions=partitions), bounded=True)
    table = Table(tmp_path, BY_TIME)
    table.sink = connector_of("filesystem", "table 't'").sink(asked).sink
    assert table.run([1], watermark=9 * HOUR) == []
    assert table.run([2], watermark=9 * HOUR, final=True) == (
        ["hr=1", "hr=2"] if partitions else [tmp_path.name]
    )
    assert {path.name[:5] for path in tmp_path.rglob("*part-*")} == {"part-"}


def test_the_name_of_the_file(tmp_path: Path) -> None:
    table = Table(tmp_path, {**POLICY, "sink.partition-commit.success-file.name": "done"})
    table.run([1])
    assert table.committed("done") == ["hr=1"]


@pytest.mark.parametrize(
    ("pattern", "formatter", "values", "zone", "millis"),
    [
        (None, None, {"d": "1970-01-02"}, "UTC", 24 * HOUR),
        (None, None, {"d": "1970-1-2 03:04:05.5"}, "UTC", 27 * HOUR + 245_500),
        ("$d $h:00:00", None, {"d": "1970-01-01", "h": "5"}, "UTC", 5 * HOUR),
        ("$d $h:00:00", None, {"d": "1970-01-01", "h": "25"}, "UTC", 25 * HOUR),
        ("$y-$m-$d", None, {"y": "1969", "m": "13", "d": "32"}, "UTC", 31 * 24 * HOUR),
        (None, "yyyyMMdd", {"d": "19700102"}, "UTC", 24 * HOUR),
        ("$d$h", "yyyyMMdd'T'HH", {"d": "19700101", "h": "T07"}, "UTC", 7 * HOUR),
        (None, None, {"d": "1970-01-01"}, "GMT-08:00", 8 * HOUR),
        (None, None, {"d": "1970-01-01 01:00:00"}, "Europe/Berlin", 0),
    ],
)
def test_the_time_of_a_partition(
    pattern: str | None, formatter: str | None, values: dict[str, str], zone: str, millis: int
) -> None:
    assert PartitionTime(pattern, formatter, zone).millis(values) == millis


def test_a_partition_without_a_time_is_an_error(tmp_path: Path) -> None:
    table = Table(tmp_path, {**BY_TIME, "partition.time-extractor.timestamp-pattern": "$dt $x"})
    with pytest.raises(ConnectorError, match=r"written as yyyy-MM-dd HH:mm:ss; got '1970-01-01 \$x'"):
        table.run([1])
    with pytest.raises(ConfigurationError, match="timestamp-formatter"):
        PartitionTime(None, "MMM yyyy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sink.partition-commit.policy.kind": "metastore,success-file"}, "the policy 'metastore'"),
        ({"sink.partition-commit.policy.kind": "custom"}, "the policy 'custom'"),
        ({**POLICY, "partition.time-extractor.kind": "custom"}, "a class of Java's"),
    ],
)
def test_what_needs_java_or_a_metastore_is_refused(
    tmp_path: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        Table(tmp_path, options)


def test_a_trigger_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="process-time, partition-time"):
        Table(tmp_path, {**POLICY, "sink.partition-commit.trigger": "sometimes"})
