"""What users do wrong: one clear error each, nothing lost, and the state directory is as good as before."""

from __future__ import annotations

import re
import threading

import pytest

from firesteel.common import WatermarkStrategy
from firesteel.common.errors import (
    ConfigurationError,
    ConnectorError,
    KeyEncodingError,
    SerializationError,
    StateCorruptedError,
    UserFunctionError,
)
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from tests.recovery.jobs import environment, lines

pytestmark = pytest.mark.usefixtures("machine")


def file_sink(directory):
    return FileSink(directory / "out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())


def said(error) -> str:
    """An error's message, for which the grammar wants an operator and a line of this file."""
    text = str(error.value)
    assert re.search(r"\(.*test_bad_input\.py:\d+\)", text), text
    return text


def test_a_function_that_cannot_be_shipped_is_named_before_anything_runs(tmp_path):
    lock = threading.Lock()

    def guarded(value):
        with lock:
            return value

    with environment(tmp_path) as env:
        env.from_collection([1]).map(guarded).name("guard").print()
        with pytest.raises(SerializationError) as error:
            env.execute()
    assert "'guard'" in said(error)
    assert "lock" in str(error.value)
    assert not (tmp_path / "state").exists()


def test_an_option_that_does_not_exist(tmp_path):
    mistaken = environment(tmp_path, options={"firesteel.epoch.max-record": "5"})
    with pytest.raises(ConfigurationError, match=r"did you mean firesteel\.epoch\.max-records"), mistaken:
        pass
    assert not (tmp_path / "state").exists()


def test_an_input_file_that_is_missing_can_be_put_there_later(tmp_path):
    def run():
        with environment(tmp_path) as env:
            source = FileSource([tmp_path / "in.txt"], TextLineFormat())
            stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
            return list(stream.execute_and_collect())

    with pytest.raises(ConnectorError) as error:
        run()
    assert "'lines'" in said(error)
    assert "in.txt" in str(error.value)
    (tmp_path / "in.txt").write_text("a\nb\n")
    assert run() == ["a", "b"]


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()} {self.count.value()}"


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_key_that_cannot_be_encoded(tmp_path, parallelism):
    def run(key):
        with environment(tmp_path, parallelism=parallelism, epoch_records=4) as env:
            keyed = env.from_collection(range(12)).key_by(key)
            keyed.process(Count()).name("count").sink_to(file_sink(tmp_path))
            env.execute()

    with pytest.raises(KeyEncodingError) as error:
        run(lambda value: object() if value == 6 else value % 2)
    assert "'count'" in said(error)
    assert "object" in str(error.value)
    assert "6" in (error.value.details or "")
    assert lines(tmp_path / "out") == ["0 1", "0 2", "1 1", "1 2"]
    run(lambda value: value % 2)
    assert lines(tmp_path / "out") == sorted(f"{key} {number}" for key in (0, 1) for number in range(1, 7))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_an_exception_in_the_middle_of_an_epoch(tmp_path, parallelism):
    def run(parse):
        with environment(tmp_path, parallelism=parallelism, epoch_records=4) as env:
            texts = env.from_collection([f"number {number}" for number in range(12)])
            texts.map(parse).name("parse").key_by(lambda value: value % 2).process(Count()).sink_to(
                file_sink(tmp_path)
            )
            env.execute()

    with pytest.raises(UserFunctionError) as error:
        run(lambda text: 1 // (int(text.split()[1]) - 6) and int(text.split()[1]))
    text = said(error)
    assert "'parse'" in text
    assert "ZeroDivisionError" in text
    assert "the record 'number 6'" in text
    assert lines(tmp_path / "out") != sorted(f"{key} {number}" for key in (0, 1) for number in range(1, 7))
    committed = lines(tmp_path / "out")
    with pytest.raises(UserFunctionError, match="number 6"):  # again: it is the same epoch
        run(lambda text: 1 // (int(text.split()[1]) - 6) and int(text.split()[1]))
    assert lines(tmp_path / "out") == committed
    run(lambda text: int(text.split()[1]))
    assert lines(tmp_path / "out") == sorted(f"{key} {number}" for key in (0, 1) for number in range(1, 7))


def test_an_exception_in_open_names_the_operator(tmp_path):
    class NoConnection(KeyedProcessFunction):
        def open(self, runtime_context):
            raise ConnectionError("nobody answers")

        def process_element(self, value, ctx):
            yield value

    with environment(tmp_path) as env:
        env.from_collection([1]).key_by(lambda value: value).process(NoConnection()).name("ask").print()
        with pytest.raises(UserFunctionError) as error:
            env.execute()
    assert "'ask'" in said(error)
    assert "ConnectionError: nobody answers" in str(error.value)


def test_a_record_whose_repr_fails_is_still_named_by_its_kind(tmp_path):
    class Shy:
        def __repr__(self):
            raise ValueError("private")

    with environment(tmp_path) as env:
        shy = env.from_collection([1]).map(lambda value: Shy()).map(lambda value: value.missing)
        shy.print()
        with pytest.raises(UserFunctionError) as error:
            env.execute()
    assert "AttributeError" in said(error)
    assert "Shy whose repr raised ValueError" in str(error.value)


def test_a_function_that_ends_the_process_ends_the_job_not_the_program(tmp_path):
    def leave(value):
        raise SystemExit(3)

    with environment(tmp_path) as env:
        env.from_collection([1]).map(leave).print()
        with pytest.raises(Exception, match="SystemExit"):
            env.execute()


def damaged(data):
    middle = len(data) // 2
    return {
        "truncated": data[:-7],
        "empty": b"",
        "altered": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "of something else": b"x" * len(data),
        "missing": None,
    }


@pytest.mark.parametrize("harm", damaged(b" "))
@pytest.mark.parametrize(
    "file", ["manifests/000000000001", "manifests/000000000002", "runs/*/000000000001-*"]
)
def test_a_file_of_the_state_directory_that_is_not_as_it_was_written(tmp_path, machine, file, harm):
    def run(parse):
        with environment(tmp_path, epoch_records=4) as env:
            keyed = env.from_collection(range(12)).map(parse).key_by(lambda value: value % 2)
            keyed.process(Count()).sink_to(file_sink(tmp_path))
            env.execute()

    with pytest.raises(UserFunctionError):
        run(lambda value: 1 // (value - 9) and value)
    committed = lines(tmp_path / "out")
    assert len(committed) == 8
    [path] = (tmp_path / "state").glob(file)
    data = path.read_bytes()
    path.unlink()
    bad = damaged(data)[harm]
    if bad is not None:
        path.write_bytes(bad)
    machine("second")  # which has to read all of it
    for _ in range(2):
        with pytest.raises(StateCorruptedError, match=f"{path.name}|of epoch 2"):
            run(int)
    assert lines(tmp_path / "out") == committed
    assert (path.read_bytes() if path.exists() else None) == bad
    path.write_bytes(data)
    run(int)
    assert lines(tmp_path / "out") == sorted(f"{key} {number}" for key in (0, 1) for number in range(1, 7))
