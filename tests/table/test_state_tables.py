"""SQL over state: `state_of`, AS OF EPOCH, and what is read of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import SqlError, SqlUnsupportedError, SqlValidationError, StateError
from firesteel.functions.columns.pushdowns import Comparison, Junction
from firesteel.functions.source import Split
from firesteel.queryable.tables import state_source
from firesteel.sql.script import parse_statement
from firesteel.sql.writing.statements import written
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queryable.jobs import count_job
from tests.recovery.test_arrangements import CountJob
from tests.state import kinds

COUNTS = Counter(key for key, *_ in kinds.EVENTS)

pytestmark = pytest.mark.usefixtures("working_copies")


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> str:
    return kinds.run(tmp_path_factory.mktemp("kinds") / "state", parallelism=2, epoch_records=20)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> CountJob:
    return count_job(tmp_path_factory.mktemp("counts"))


def rows(query: str, *, parallelism: int = 2, batch: bool = True) -> list[tuple[Any, ...]]:
    mode = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(mode)
    with executing(parallelism=parallelism), env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("batch", [True, False])
def test_a_state_is_a_table(left: str, parallelism: int, batch: bool):
    query = f"SELECT key, `value`, epoch FROM state_of('{left}', 'kinds', 'count')"
    found = rows(query, parallelism=parallelism, batch=batch)
    assert found == sorted((key, count, 6) for key, count in COUNTS.items())


@pytest.mark.parametrize("epoch", [1, 3, 6])
def test_as_of_an_epoch(left: str, epoch: int):
    query = (
        f"SELECT s.key, s.`value` FROM TABLE(state_of('{left}', 'kinds', 'count')) AS OF EPOCH {epoch} AS s"
    )
    seen = Counter(key for key, *_ in kinds.EVENTS[: 20 * epoch])
    assert rows(query) == sorted(seen.items())


def test_columns_of_other_kinds(left: str):
    amounts = {(key, at): value for key, at, value in kinds.expected()["amounts"]}
    found = rows(f"SELECT key, map_key, `value` FROM state_of('{left}', 'kinds', 'amounts')")
    assert {(key, at): value for key, at, value in found} == amounts
    found = rows(f"SELECT key, `position`, s.`value`.page FROM state_of('{left}', 'kinds', 'visits') AS s")
    assert len(found) == len(kinds.EVENTS)
    query = f"SELECT key, namespace.`end` FROM state_of('{left}', 'sizes', 'window-contents') AS OF EPOCH 3"
    assert {end for _, end in rows(query)} == {10_000}
    query = f"SELECT map_key, `value` FROM state_of('{left}', 'limits', 'rules')"
    assert sorted(rows(query)) == [("high", 5), ("low", None), ("mid", 3)]
    (time,) = {time for (time,) in rows(f"SELECT epoch_time FROM state_of('{left}', 'kinds', 'count')")}
    assert time.year >= 2024


def test_joins_views_and_aggregates_read_one_epoch(left: str):
    state = f"state_of('{left}', 'kinds', 'count')"
    both = f"{state} AS OF EPOCH 2 a JOIN {state} AS OF EPOCH 6 b ON a.key = b.key"
    query = f"SELECT a.key, b.`value` - a.`value` FROM {both}"
    early = Counter(key for key, *_ in kinds.EVENTS[:40])
    assert rows(query) == sorted((key, COUNTS[key] - early[key]) for key in early)
    assert rows(f"SELECT SUM(`value`) FROM {state}") == [(len(kinds.EVENTS),)]


def test_a_condition_on_the_key_reads_its_key_group_alone(left: str):
    query = f"SELECT `value` FROM state_of('{left}', 'kinds', 'count') WHERE key = "
    assert rows(f"{query} 'user3'") == [(COUNTS["user3"],)]
    assert rows(f"{query} 'nobody'") == []
    source = state_source(left, "kinds", "count")
    one, two = Comparison("key", "=", "user3"), Comparison("key", "=", "user4")

    def splits(condition: Any) -> list[Split]:
        limited = source.filtered(condition)
        assert limited is not None
        return [*limited.splits(frozenset())]

    assert [split.payload.prefix != b"" for split in splits(one)] == [True]
    assert len({split.payload.groups for split in splits(Junction((one, two), any_of=True))}) == 2
    assert splits(Junction((one, two))) == []
    (whole,) = splits(Comparison("value", "=", 5))
    assert whole.payload.groups == (0, 127)


def test_a_worker_may_stand_in_another_directory(left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(Path(left).parent)
    source = state_source(Path(left).name, "kinds", "count")
    (split,) = source.splits(frozenset())
    monkeypatch.chdir(tmp_path)
    assert sum(batch.num_rows for batch, _ in source.read_columns(split, 0, 1)) == len(COUNTS)


def test_arrangements_and_conditions_on_their_keys(counted: CountJob):
    state = f"state_of('{counted.url}', 'Count', 'counts')"
    assert rows(f"SELECT key, `count` FROM {state}") == sorted(counted.model.items())
    assert rows(f"SELECT `count` FROM {state} WHERE key = 0") == [(counted.model[0],)]
    limited = state_source(counted.url, "Count", "counts").filtered(Comparison("key", "=", 0))
    assert limited is not None
    ((first, last),) = (split.payload.groups for split in limited.splits(frozenset()))
    assert first == last
    assert rows(f"SELECT SUM(`$weight`) FROM state_of('{counted.url}', 'Count', 'records')") == [
        (sum(counted.model.values()),)
    ]


def test_what_is_not_there_is_told_when_the_query_is_read(left: str):
    with pytest.raises(StateError, match="requires an operator with the uid, name or id 'kid'"):
        rows(f"SELECT * FROM state_of('{left}', 'kid', 'count')")
    with pytest.raises(StateError, match="requires epoch 99; got the epochs"):
        rows(f"SELECT * FROM state_of('{left}', 'kinds', 'count') AS OF EPOCH 99")
    with pytest.raises(StateError, match="requires a savepoint, or the state directory"):
        rows("SELECT * FROM state_of('/nowhere', 'kinds', 'count')")
    with pytest.raises(SqlValidationError, match="requires the arguments of STATE_OF"):
        rows(f"SELECT * FROM state_of('{left}', 'kinds')")
    with pytest.raises(SqlValidationError, match="requires a text as STATE"):
        rows(f"SELECT * FROM state_of('{left}', 'kinds', 5)")
    with pytest.raises(SqlValidationError, match="the number of an epoch"):
        rows(f"SELECT * FROM state_of('{left}', 'kinds', 'count') AS OF EPOCH 'x'")
    with pytest.raises(SqlUnsupportedError, match="AS OF EPOCH of anything but state_of"):
        rows("SELECT * FROM TABLE(f(1)) AS OF EPOCH 1")
    with pytest.raises(SqlError, match="EPOCH"):
        rows(f"SELECT * FROM state_of('{left}', 'kinds', 'count') AS OF 3")


def test_runs_that_went_meanwhile_are_told_with_what_to_do(tmp_path: Path):
    job = count_job(tmp_path)
    source = state_source(job.url, "Count", "counts")
    (split,) = source.splits(frozenset())
    Storage.of(job.url).delete_all(Storage.of(job.url).list("runs"))
    with pytest.raises(StateError, match="could not be read to its end as epoch 9 left it"):
        [*source.read_columns(split, 0, 1)]


def test_the_text_of_a_statement_has_its_epoch():
    text = "SELECT * FROM STATE_OF('a', 'b', 'c') AS OF EPOCH 12 AS `s`"
    assert "AS OF EPOCH 12" in written(parse_statement(text))
    assert written(parse_statement(written(parse_statement(text)))) == written(parse_statement(text))
