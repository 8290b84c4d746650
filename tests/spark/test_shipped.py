"""How tasks travel to workers and how results and errors come back, called in this process as a worker calls them."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.checkpoint.compaction import MergeTask
from firesteel.checkpoint.manifest import Layer
from firesteel.common import pickles
from firesteel.common.errors import (
    EngineError,
    ProgramError,
    SerializationError,
    StateCorruptedError,
    UserFunctionError,
)
from firesteel.saved.row_columns import RowTypes
from firesteel.saved.row_writing import Written
from firesteel.spark.shipped import ANSWER, AnsweringTask, Batches, Preparation, RowForm, ShippedTask
from firesteel.spark.state_processor.tasks import EncodeTask, ReadTask, Target, WriteTask
from firesteel.spark.worker import MergeJob
from firesteel.state.live.durable import RunRef

PREPARED = Preparation()


def called(task: ShippedTask, *batches: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Call a task as a worker does, after the journey there."""
    return list(pickle.loads(pickles.dumps(task))(iter(batches)))


def read(task: AnsweringTask):
    [row] = ANSWER.rows(called(task))
    return task.read(row)


@dataclass(frozen=True)
class Answers(AnsweringTask[int]):
    work: Callable[[], int]

    who = "the test's task"

    def answer(self, batches: Batches) -> int:
        return self.work()


def test_a_result_comes_back():
    assert read(Answers(PREPARED, lambda: 7)) == 7


def test_an_error_of_ours_comes_back_as_it_is():
    def fail() -> int:
        raise StateCorruptedError("must be as it was written", who="runs/1", got="nothing", hint="restore it")

    with pytest.raises(StateCorruptedError) as raised:
        read(Answers(PREPARED, fail))
    assert str(raised.value) == "runs/1 must be as it was written; got nothing\n  hint: restore it"


def test_an_error_of_the_users_code_comes_back_with_its_line():
    def fail() -> int:
        return 1 // 0

    with pytest.raises(UserFunctionError, match=r"the test's task failed: .*ZeroDivisionError.*test_shipped"):
        read(Answers(PREPARED, fail))


def test_what_would_end_a_worker_comes_back_as_an_error():
    with pytest.raises(UserFunctionError, match=r"raised SystemExit: 3 at .*test_shipped"):
        read(Answers(PREPARED, lambda: sys.exit(3)))


def fails_to_prepare() -> None:
    raise ProgramError("requires packages that its workers can install", who="set_python_requirements")


def merge_of(*runs: RunRef, setup: Callable[[], None] | None = None, state_url: str = "/nowhere") -> MergeJob:
    task = MergeTask("id", (Layer(1, 1, True, [*runs]),), True, 0, 127, 2, 0)
    return MergeJob(Preparation((), setup), state_url, task)


RUN = RunRef("runs/id/1.run", 1, 10, "00", 1, "id", 0, 0, 127)


@pytest.mark.parametrize(
    "task",
    [
        merge_of(setup=fails_to_prepare),
        WriteTask(
            Preparation((), fails_to_prepare), Target("/nowhere", "id", 1), ((0, 127),), {}, None, "", "who"
        ),
    ],
    ids=["merge", "write"],
)
def test_an_environment_that_cannot_be_set_up_is_the_answer(task):
    with pytest.raises(ProgramError, match="requires packages that its workers can install"):
        read(task)


def test_a_damaged_run_is_the_answer_of_a_merge(tmp_path):
    with pytest.raises(StateCorruptedError, match=r"runs/id/1\.run"):
        read(merge_of(RUN, state_url=str(tmp_path)))


def test_a_bug_of_the_engine_names_the_task(tmp_path):
    broken = MergeJob(PREPARED, str(tmp_path), "no task")  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="the merge of runs met an unexpected AttributeError"):
        read(broken)


SCHEMA = {"scope": "keyed", "kind": "value", "name": "n", "id": 1, "type": {"type": "INT"}}


def encode_task(setup: Callable[[], None] | None = None) -> EncodeTask:
    columns = pa.schema([("key", pa.string()), ("value", pa.int32())])
    written = Written(SCHEMA, None, 128, 0)
    return EncodeTask(Preparation((), setup), written, columns, 1, "state 'n'")


def missing_module() -> None:
    import no_such_module  # noqa: F401


def test_an_error_of_the_encoding_step_is_that_of_the_writing_step(monkeypatch):
    failed = called(encode_task(missing_module))
    writing = WriteTask(PREPARED, Target("/nowhere", "id", 1), ((0, 127),), {1: SCHEMA}, None, "", "who")
    monkeypatch.setattr(
        "firesteel.spark.state_processor.tasks.current_task",
        lambda: type("T", (), {"partitionId": lambda _: 0})(),
    )
    monkeypatch.setattr("firesteel.spark.state_processor.tasks.Storage.of", lambda _: None)
    monkeypatch.setattr(
        "firesteel.spark.state_processor.tasks.write_run", lambda _, __, entries, **___: [*entries]
    )
    [row] = ANSWER.rows(list(writing(iter(failed))))
    with pytest.raises(SerializationError, match=r"state 'n' requires the module 'no_such_module'"):
        writing.read(row)


def test_reading_raises_the_message_without_what_led_to_it(tmp_path):
    class Part:
        schemas = (SCHEMA,)

        def rows(self, *_: object) -> Iterator[object]:
            raise StateCorruptedError("must be as it was written", who="runs/1")

    task = ReadTask(PREPARED, str(tmp_path), Part(), ((0, 1),), RowTypes(), "state 'n'")  # type: ignore[arg-type]
    numbers = pa.RecordBatch.from_pydict({"id": [0]})
    with pytest.raises(StateCorruptedError, match="runs/1") as raised:
        called(task, numbers)
    assert raised.value.__suppress_context__


def test_the_module_path_of_the_driver_is_that_of_the_task(monkeypatch, tmp_path):
    (tmp_path / "only_in_the_driver.py").write_text("VALUE = 5")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    preparation = Preparation.of_driver()
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(tmp_path)])

    def work() -> int:
        import only_in_the_driver

        return only_in_the_driver.VALUE

    assert read(Answers(preparation, work)) == 5


FORM = RowForm(target="int", seq="long", block="binary")
INT = st.integers(-(1 << 31), (1 << 31) - 1)
LONG = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.lists(st.lists(st.tuples(INT, LONG, st.binary()), max_size=5), max_size=3))
def test_rows_are_what_they_were(chunks):
    batches = [FORM.batch(chunk) for chunk in chunks]
    assert [*FORM.rows(batches)] == [row for chunk in chunks for row in chunk]
    assert all([field.name for field in batch.schema] == ["target", "seq", "block"] for batch in batches)


def test_the_schema_for_spark_is_that_of_the_batches():
    assert [(field.name, field.dataType.simpleString()) for field in FORM.spark] == [
        ("target", "int"),
        ("seq", "bigint"),
        ("block", "binary"),
    ]
