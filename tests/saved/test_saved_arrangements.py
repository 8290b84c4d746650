"""The arrangements of a saved state: what operators of tables keep, as rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import write_savepoint
from firesteel.cli.main import app
from firesteel.common.errors import StateError, StateMismatchError
from firesteel.control.program_check import check_program
from firesteel.saved.arrangements import SavedArrangement
from firesteel.saved.inspection import SavedState
from tests.recovery.test_arrangements import CountJob
from tests.recovery.wandering_jobs import KEYS


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountJob:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    job = CountJob(str(tmp_path / "state"), 1)
    for number in range(9):
        job.parallelism = 1 + number % 3
        job.epoch([number % KEYS, (number + 1) % 3, 0])
    return job


def firesteel(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def rows(saved: SavedState, arrangement: SavedArrangement, *, expired: bool = False) -> list[tuple[int, ...]]:
    batches = (
        batch
        for groups in arrangement.ranges(3)
        for batch in arrangement.batches(saved.storage, groups, expired=expired)
    )
    return sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())


def test_arrangements_are_read_as_rows(job: CountJob) -> None:
    saved = SavedState.open(job.url)
    operator = saved.operator("Count")
    assert [found.name for found in operator.arrangements] == ["counts", "fresh", "odd", "recent", "records"]
    assert rows(saved, operator.arrangement("counts")) == sorted(job.model.items())
    assert rows(saved, operator.arrangement("records")) == sorted(
        (key, number, 1) for key, count in job.model.items() for number in range(count)
    )
    last = [*enumerate(job.epochs, 1)][-3:]
    recent = {(number, key) for number, keys in last for key in keys}
    assert rows(saved, operator.arrangement("recent")) == sorted(recent)
    fresh = operator.arrangement("fresh")
    assert fresh.schema.names == ["key", "$weight", "$written"]
    shown = rows(saved, fresh)
    assert [key for key, _, _ in shown] == sorted({key for _, keys in last for key in keys})
    assert {written for _, _, written in shown} <= {60, 70, 80}
    assert set(shown) < set(rows(saved, fresh, expired=True))


def test_a_savepoint_is_read_like_a_state_directory(job: CountJob, tmp_path: Path) -> None:
    target = Storage.of(str(tmp_path / "savepoint"))
    write_savepoint(job.storage, 9, target)
    saved = SavedState.open(target.url)
    assert rows(saved, saved.operator("Count").arrangement("counts")) == sorted(job.model.items())


def test_one_that_does_not_exist_is_answered_with_those_that_do(job: CountJob) -> None:
    operator = SavedState.open(job.url).operator("Count")
    with pytest.raises(
        StateError, match=r"no arrangement 'cnt'; got counts .arrangement., fresh .arrangement."
    ):
        operator.arrangement("cnt")


def test_the_shell_lists_and_shows_them(job: CountJob) -> None:
    listing = json.loads(firesteel("state", "ls", job.url, "--json").stdout)
    (states,) = (found["states"] for found in listing["operators"] if found["name"] == "Count")
    counts, fresh, *_ = states
    assert (counts["name"], counts["scope"], counts["kind"], counts["entries"]) == (
        "counts", "arrangement", "upsert", len(job.model)
    )  # fmt: skip
    assert fresh["ttl_ms"] == 25
    done = firesteel("state", "show", job.url, "Count", "counts", "--json")
    assert sorted((row["key"], row["count"]) for row in json.loads(done.stdout)) == sorted(job.model.items())
    done = firesteel("state", "show", job.url, "Count", "records", "--limit", 2)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].split() == ["key", "record", "$weight"]
    done = firesteel("state", "show", job.url, "Count", "records", "--key", 1)
    assert done.exit_code != 0
    assert "cannot be searched for a key" in done.output


def test_a_program_without_the_operator_does_not_match(job: CountJob) -> None:
    manifest = job.journal.last
    assert manifest is not None
    job.parallelism = 1
    plan = job.plan()
    check_program(manifest, plan, "it", unpublished=False, allow_non_restored_state=False)
    fewer = type(plan)(plan.job_name, plan.max_parallelism, plan.operators[:1], ())
    with pytest.raises(StateMismatchError, match=r"Count .id bbbbbbbbbbbb: counts, fresh, odd, recent"):
        check_program(manifest, fewer, "it", unpublished=False, allow_non_restored_state=False)
