"""Whose error it is: the user's, which names their line, or the engine's, which is tried again."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import firesteel
from firesteel.common.errors import EngineError, FiresteelError, UserFunctionError
from firesteel.common.frames import is_engine
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.runtime import routing
from firesteel.testing import executing


def failure_of(function: Callable[[Any], Any], value: Any) -> FiresteelError:
    with executing(parallelism=1):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([value]).map(function).print()
        with pytest.raises(FiresteelError) as caught:
            env.execute()
    return caught.value


def in_the_users_code(value: str) -> int:
    return int(json.loads(value))


@pytest.mark.parametrize("function", [int, json.loads, in_the_users_code])
def test_what_the_users_function_raises_is_the_users(function: Callable[[Any], Any]) -> None:
    error = failure_of(function, "x")
    assert isinstance(error, UserFunctionError)
    assert error.got == "the record 'x'"
    assert ("test_failures.py" in error.requirement) is (function is in_the_users_code)


def test_what_the_engine_raises_is_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "encode_block", None)
    with executing(parallelism=2):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1, 2]).key_by(lambda n: n).map(lambda n: n).print()
        with pytest.raises(EngineError, match="TypeError"):
            env.execute()


IN_AN_ARCHIVE = """
import sys
sys.path.insert(0, "./firesteel.zip")
import firesteel
from firesteel.common.errors import EngineError, UserFunctionError
from firesteel.common.frames import is_engine
from firesteel.runtime import failures

assert firesteel.__file__.startswith("./firesteel.zip"), firesteel.__file__
assert is_engine(failures.user_failure.__code__.co_filename)
try:
    failures.summary()
except TypeError as error:
    assert type(failures.user_failure(error, "a task")) is UserFunctionError  # this file calls it
try:
    failures.user_failure(None, "a task", object(), iter(()))  # whose length is asked for inside
except Exception as error:
    inside = error.with_traceback(error.__traceback__.tb_next)
    assert type(failures.user_failure(inside, "a task")) is EngineError
try:
    1 / 0
except Exception as error:
    assert type(failures.user_failure(error, "a task")) is UserFunctionError
print("told apart")
"""


def test_frames_are_told_apart_where_firesteel_comes_from_a_relative_archive(tmp_path: Path) -> None:
    package = Path(firesteel.__file__).parent
    with zipfile.ZipFile(tmp_path / "firesteel.zip", "w") as archive:
        for path in package.rglob("*.py"):
            archive.write(path, f"firesteel/{path.relative_to(package)}")
    (tmp_path / "job.py").write_text(IN_AN_ARCHIVE)
    command = [sys.executable, "job.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "told apart\n", done.stderr


def test_a_directory_that_only_begins_like_firesteels_is_the_users() -> None:
    assert not is_engine(f"{Path(firesteel.__file__).parent}_jobs/job.py")


def test_a_huge_text_of_an_exception_loses_its_middle() -> None:
    def fail(_: int) -> int:
        raise ValueError("begin" + "x" * 50_000_000 + "end")

    error = failure_of(fail, 1)
    assert len(str(error)) < 10_000
    assert len(pickle.dumps(error)) < 300_000
    assert "ValueError: beginx" in str(error)
    assert "characters left out" in str(error)
    assert "xend at " in str(error)
