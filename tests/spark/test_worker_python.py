"""Requirements, archives and interpreters that a program asks for, in local workers and on the way there."""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Configuration
from firesteel.common.errors import FiresteelError, ProgramError, SerializationError, UnsupportedError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.spark.shipping import ship_environment
from firesteel.testing import executing
from tests.spark.wheels import a_wheel

on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def answers(env: StreamExecutionEnvironment, function: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    return sorted(env.from_collection(values).rebalance().map(function).execute_and_collect())


def version_of(name: str) -> str:
    import importlib

    return str(importlib.import_module(name).VERSION)


def contents(path: str) -> str:
    return f"{path}: {Path(path).read_text()}"


class TestOnSpark:
    pytestmark = on_spark

    @pytest.fixture(autouse=True)
    def spark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
        with executing("spark", parallelism=2):
            yield

    @pytest.mark.long
    def test_requirements_are_installed_from_shipped_packages_for_one_job(self, tmp_path: Path) -> None:
        for version in ("1.0", "2.0"):
            a_wheel(tmp_path / "cached", "shipped_requirement", version)
        requirements = tmp_path / "requirements.txt"
        for version in ("1.0", "2.0"):
            requirements.write_text(f"shipped_requirement=={version}\n")
            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_python_requirements(str(requirements), str(tmp_path / "cached"))
            assert answers(env, version_of, ["shipped_requirement"] * 3) == [version] * 3
        plain = StreamExecutionEnvironment.get_execution_environment()
        with pytest.raises(SerializationError) as caught:
            answers(plain, version_of, ["shipped_requirement"])
        assert "requires the module 'shipped_requirement'" in str(caught.value)
        assert "env.set_python_requirements" in str(caught.value)
        assert "org.apache" not in str(caught.value)

    def test_packages_that_cannot_be_installed_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "cached").mkdir()
        (tmp_path / "requirements.txt").write_text("no_such_package_anywhere==1.0\n")
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "cached"))
        with pytest.raises(ProgramError, match="set_python_requirements requires packages") as caught:
            answers(env, str, [1])
        assert "no_such_package_anywhere==1.0" in str(caught.value)
        assert "Traceback" not in str(caught.value)

    def test_archives_are_found_below_the_working_directory(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
            archive.writestr("inner/names.txt", "of the zip")
        (tmp_path / "numbers.txt").write_text("of the tar")
        with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as archive:
            archive.add(tmp_path / "numbers.txt", "numbers.txt")
        env = StreamExecutionEnvironment.get_execution_environment()
        env.add_python_archive(str(tmp_path / "data.zip"))
        env.add_python_archive(str(tmp_path / "data.tar.gz"), "other")
        asked = ["data.zip/inner/names.txt", "other/numbers.txt"]
        assert answers(env, contents, asked * 2) == sorted(
            ["data.zip/inner/names.txt: of the zip", "other/numbers.txt: of the tar"] * 2
        )
        plain = StreamExecutionEnvironment.get_execution_environment()
        assert set(answers(plain, lambda _: str(Path.cwd()), [1, 2])) == {
            str(Path.cwd())
        }  # other jobs stay where they are

    def test_an_interpreter_of_the_users_and_one_in_an_archive(self, tmp_path: Path) -> None:
        script = f'#!/bin/sh\nFOUND_BY={{}} exec {sys.executable} "$@"\n'
        own = tmp_path / "own-python"
        own.write_text(script.format("path"))
        own.chmod(0o755)
        with tarfile.open(tmp_path / "venv.tgz", "w:gz") as archive:
            own.write_text(script.format("archive"))
            archive.add(own, "venv/bin/python")
        own.write_text(script.format("path"))

        def found_by(_: int) -> str:
            return os.environ.get("FOUND_BY", "nothing")

        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_python_executable(str(own))
        assert answers(env, found_by, [1]) == ["path"]
        env = StreamExecutionEnvironment.get_execution_environment()
        env.add_python_archive(str(tmp_path / "venv.tgz"), "environment")
        env.set_python_executable("environment/venv/bin/python")
        assert answers(env, found_by, [1]) == ["archive"]
        env = StreamExecutionEnvironment.get_execution_environment()
        assert answers(env, found_by, [1]) == ["nothing"]


def test_options_have_flinks_names_and_forms(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip", "requirements.txt", "module.py"):
        (tmp_path / name).touch()
    (tmp_path / "cached").mkdir()
    here = tmp_path.resolve()
    options = {
        "python.files": f"file://{here}/module.py",
        "python.requirements": f"{here}/requirements.txt#{here}/cached",
        "python.archives": f"{here}/a.zip,file://{here}/b.zip#target",
        "python.executable": "target/bin/python",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    python = env._python
    assert python.files == (f"{here}/module.py",)
    assert (python.requirements, python.cached_dir) == (f"{here}/requirements.txt", f"{here}/cached")
    assert python.archives == ((f"{here}/a.zip", "a.zip"), (f"{here}/b.zip", "target"))
    assert python.executable == "target/bin/python"


@pytest.mark.parametrize("target", ["/absolute", "..", "a/b"])
def test_a_target_is_the_name_of_a_directory(tmp_path: Path, target: str) -> None:
    (tmp_path / "a.zip").touch()
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(ProgramError, match="requires the name of a directory"):
        env.add_python_archive(str(tmp_path / "a.zip"), target)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no archive")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.add_python_archive(str(tmp_path / "notes.txt"))
    with pytest.raises(ProgramError, match="add_python_archive requires a zip archive"):
        ship_environment(None, env._python, None)


def test_this_process_has_the_python_it_has(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\n")
    with executing():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_python_requirements(str(tmp_path / "requirements.txt"))
        env.from_collection([1]).print()
        with pytest.raises(UnsupportedError, match="cannot be changed"):
            env.execute()
    assert issubclass(UnsupportedError, FiresteelError)
