"""Code that a program adds is importable in the workers; what is shipped where nobody asked for it."""

from __future__ import annotations

import sys
import types
import zipfile
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from firesteel.common.errors import ProgramError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.spark.shipping import modules_of_program, ship
from firesteel.testing import executing


class Session:
    """Takes artifacts as Spark's session does."""

    def __init__(self) -> None:
        self.archives: list[Path] = []

    def addArtifacts(self, path: str, *, pyfile: bool) -> None:
        assert pyfile
        self.archives.append(Path(path))

    def names(self) -> list[list[str]]:
        return [sorted(zipfile.ZipFile(archive).namelist()) for archive in self.archives]


def a_file(directory: Path) -> Path:
    path = directory / "shipped_file.py"
    path.write_text("ANSWER = 'a file'")
    return path


def a_directory(directory: Path) -> Path:
    (directory / "libraries" / "shipped_package").mkdir(parents=True)
    (directory / "libraries" / "shipped_package" / "__init__.py").write_text("from .inner import ANSWER")
    (directory / "libraries" / "shipped_package" / "inner.py").write_text("ANSWER = 'a directory'")
    return directory / "libraries"


def a_package(directory: Path) -> Path:
    (directory / "shipped_by_name").mkdir()
    (directory / "shipped_by_name" / "__init__.py").write_text("ANSWER = 'a package'")
    return directory / "shipped_by_name"


def a_zip(directory: Path) -> Path:
    path = directory / "shipped.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("shipped_in_zip.py", "ANSWER = 'a zip'")
    return path


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_added_code_is_importable_in_the_workers(tmp_path: Path) -> None:
    wanted = {
        "shipped_file": "a file",
        "shipped_package": "a directory",
        "shipped_by_name": "a package",
        "shipped_in_zip": "a zip",
    }

    def answer(module: str) -> str:
        import importlib

        return str(importlib.import_module(module).ANSWER)

    with executing("spark", parallelism=2):
        env = StreamExecutionEnvironment.get_execution_environment()
        for make in (a_file, a_directory, a_package, a_zip):
            env.add_python_file(str(make(tmp_path)))
        answers = list(env.from_collection(list(wanted)).rebalance().map(answer).execute_and_collect())
    assert sorted(answers) == sorted(wanted.values())


@pytest.mark.parametrize("make", [a_file, a_directory, a_package, a_zip])
def test_equal_code_is_one_archive_and_changed_code_another(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    session = Session()
    path = make(tmp_path)
    ship(session, [str(path), str(path)], cluster=False)
    assert session.archives[0] == session.archives[1]
    if path.suffix == ".py":
        path.write_text("ANSWER = 'changed'")
        ship(session, [str(path)], cluster=False)
        assert session.archives[2] != session.archives[0]


def test_a_cluster_gets_firesteel_and_the_modules_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").touch()
    (tmp_path / "unused.py").touch()
    main = types.ModuleType("__main__")
    main.__file__ = str(tmp_path / "program.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.syspath_prepend(tmp_path)
    a_file(tmp_path), a_package(tmp_path)
    import_modules = ["shipped_file", "shipped_by_name"]
    for name in import_modules:
        monkeypatch.delitem(sys.modules, name, raising=False)
        __import__(name)
    assert {path.name for path in modules_of_program()} == {"shipped_file.py", "shipped_by_name"}
    session = Session()
    ship(session, [], cluster=True)
    package, program = session.names()
    assert "firesteel/spark/worker.py" in package
    assert not [name for name in package if "__pycache__" in name]
    assert program == ["shipped_by_name/__init__.py", "shipped_file.py"]
    for name in import_modules:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("installed", [False, True])
def test_a_program_started_as_a_module_ships_its_own_package(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "site-packages" if installed else tmp_path
    (root / "shop_of_a_test" / "jobs").mkdir(parents=True)
    main = types.ModuleType("__main__")
    main.__file__ = str(root / "shop_of_a_test" / "jobs" / "main.py")
    main.__spec__ = ModuleSpec("shop_of_a_test.jobs.main", None)
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.syspath_prepend(root)
    a_file(root)
    monkeypatch.delitem(sys.modules, "shipped_file", raising=False)
    __import__("shipped_file")
    beside = set() if installed else {root / "shipped_file.py"}
    assert modules_of_program() == {root / "shop_of_a_test", *beside}
    monkeypatch.delitem(sys.modules, "shipped_file")


def test_what_is_not_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no code")
    with pytest.raises(
        ProgramError, match=r"add_python_file requires a \.py file, a zip archive or a directory"
    ):
        ship(Session(), [str(tmp_path / "notes.txt")], cluster=False)
