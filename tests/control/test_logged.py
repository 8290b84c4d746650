"""What is logged while a job runs says of which job, epoch and operator it is."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types
from firesteel.common.configuration import Configuration
from firesteel.common.errors import ConfigurationError
from firesteel.common.log_context import current_log_context
from firesteel.common.log_formats import LogContextFilter, LogFormatter
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control.listeners import EpochStats
from firesteel.datastream import MapFunction, StreamExecutionEnvironment
from firesteel.functions.sink import Committer
from firesteel.testing import ManualClock, executing
from tests.recovery import ledger

LOG = logging.getLogger("firesteel.testing.logged")


class Speaking(MapFunction):
    def open(self, runtime_context: Any) -> None:
        LOG.info("open")

    def map(self, value: int) -> int:
        LOG.info("map")
        return value

    def close(self) -> None:
        LOG.info("close")


class _SpeakingCommitter(Committer):
    def __init__(self, committer: Committer, beside: bool) -> None:
        self._committer = committer
        self.beside = beside

    def commit(self, committables: Any) -> None:
        LOG.info("commit of %s", threading.current_thread().name.partition("_")[0])
        self._committer.commit(committables)


class SpeakingSink(ledger.LedgerSink):
    beside = False

    def create_committer(self) -> Committer:
        return _SpeakingCommitter(super().create_committer(), self.beside)


class Kept(logging.Handler):
    """Keeps what is logged, with what the formats of programs see of it."""

    def __init__(self) -> None:
        super().__init__()
        self.addFilter(LogContextFilter())
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def of(self, message: str) -> list[Any]:
        return [record for record in self.records if record.getMessage() == message]


@pytest.fixture
def log() -> Iterator[Kept]:
    kept, before = Kept(), LOG.level
    LOG.addHandler(kept)
    LOG.setLevel(logging.INFO)
    yield kept
    LOG.removeHandler(kept)
    LOG.setLevel(before)


def run(directory: Path, sink: SpeakingSink, **more: Any) -> None:
    clock = ManualClock(1_000_000)
    with executing(epoch_records=4, parallelism=2, state_dir=str(directory / "state"), clock=clock, **more):
        env = StreamExecutionEnvironment.get_execution_environment()
        numbers = env.from_source(DataGeneratorSource(int, count=12, type_info=Types.LONG()), None, "numbers")
        numbers.map(Speaking()).name("speak").sink_to(sink)
        env.execute("orders")


def test_what_functions_log_is_of_their_subtask(tmp_path: Path, log: Kept) -> None:
    run(tmp_path, SpeakingSink(str(tmp_path)))
    for what in ("open", "map", "close"):
        said = log.of(what)
        assert {(record.job_name, record.operator, record.parallelism) for record in said} == {
            ("orders", "speak", 2)
        }
        assert {record.subtask for record in said} == {0, 1}
    assert {record.epoch for record in log.of("open")} == {1}
    mapped = [record.epoch for record in log.of("map")]
    assert len(mapped) == 12
    assert set(mapped) >= {1, 2, 3}
    assert {len(record.job_id) for record in log.records} == {32}
    assert current_log_context() is None


@pytest.mark.parametrize("beside", [False, True])
def test_what_is_published_is_of_the_epoch_that_was_committed(
    tmp_path: Path, log: Kept, beside: bool
) -> None:
    sink = SpeakingSink(str(tmp_path))
    sink.beside = beside
    run(tmp_path, sink)
    said = [record for record in log.records if record.getMessage().startswith("commit of")]
    epochs = [record.epoch for record in said]
    assert epochs == sorted(epochs)
    assert set(epochs) >= {1, 2, 3}
    assert {record.operator for record in said} == {None}
    threads = {record.getMessage().removeprefix("commit of ") for record in said}
    assert any(name.startswith("firesteel-publishing") for name in threads) == beside


def test_listeners_log_of_the_epoch_that_they_are_told_of(tmp_path: Path, log: Kept) -> None:
    class Listener:
        def on_epoch(self, stats: EpochStats) -> None:
            LOG.info("told of %d", stats.epoch)

    sink = SpeakingSink(str(tmp_path))
    sink.beside = True
    run(tmp_path, sink, listener=Listener())
    said = [record for record in log.records if record.getMessage().startswith("told of")]
    assert len(said) >= 3
    assert all(record.getMessage() == f"told of {record.epoch}" for record in said)


def test_a_job_that_says_how_it_logs(tmp_path: Path, log: Kept) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(LogFormatter())
    LOG.addHandler(handler)
    try:
        run(tmp_path, SpeakingSink(str(tmp_path)), log_form="json")
    finally:
        LOG.removeHandler(handler)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert {line["job_name"] for line in lines} == {"orders"}


def test_a_format_that_does_not_exist_is_refused() -> None:
    with executing():
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration.from_dict({"firesteel.logging.format": "xml"})
        )
        env.from_collection([1]).print()
        with pytest.raises(ConfigurationError, match=r"'firesteel.logging.format' requires text or json"):
            env.execute()
