"""The modules in a session's files are its own, and what they define needs no import where it is unpickled."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import cloudpickle
import pytest

from firesteel.common.importing import OwnModules, import_module, importing_from

GREETING = """
import own_words

from own_words import polite


class Greeter:
    def __call__(self, name):
        return own_words.greet(polite(name))
"""
WORDS = """
def greet(name):
    return f"{WORD} {name}"


def polite(name):
    return f"dear {name}"


WORD = "hello"
"""


def files(place: Path, word: str = "hello") -> list[Path]:
    place.mkdir(exist_ok=True)
    (place / "own_greeting.py").write_text(GREETING)
    (place / "own_words.py").write_text(WORDS.replace("hello", word))
    return [place / "own_greeting.py", place / "own_words.py"]


def test_two_sets_of_modules_with_the_same_names_do_not_meet(tmp_path: Path) -> None:
    first, second = (OwnModules(files(tmp_path / word, word)) for word in ("hello", "bye"))
    for _ in range(2):
        for modules, said in ((first, "hello dear Ann"), (second, "bye dear Ann")):
            assert modules.load("own_greeting").Greeter()("Ann") == said
    assert first.load("own_greeting") is first.load("own_greeting")
    assert not {"own_greeting", "own_words"} & sys.modules.keys()


def test_what_they_define_is_pickled_with_what_it_uses(tmp_path: Path) -> None:
    greeter = OwnModules(files(tmp_path)).load("own_greeting").Greeter()
    pickled = cloudpickle.dumps(greeter)
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)('Ann'))"
    ran = subprocess.run([sys.executable, "-c", program], input=pickled, stdout=subprocess.PIPE, check=True)
    assert ran.stdout.decode().strip() == "hello dear Ann"


def test_directories_packages_and_archives(tmp_path: Path) -> None:
    directory, package, archive = tmp_path / "directory", tmp_path / "own_package", tmp_path / "own.zip"
    files(directory)
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text("from own_package import other\n\nVALUE = other.VALUE + 1\n")
    (package / "other.py").write_text("VALUE = 1\n")
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("own_packed/__init__.py", "VALUE = 3\n")
        packed.writestr("own_packed/deep.py", "VALUE = 4\n")
    modules = OwnModules([directory, package, archive])
    assert modules.load("own_words").WORD == "hello"
    assert modules.load("own_package.inner").VALUE == 2
    assert modules.load("inner").__name__ == "inner"
    assert modules.load("own_packed").VALUE == 3
    assert modules.load("own_packed.deep").VALUE == 4
    assert not modules.has("own_missing")


def test_the_modules_of_a_context_come_first(tmp_path: Path) -> None:
    modules = OwnModules(files(tmp_path))
    with importing_from(lambda: modules):
        assert import_module("own_words") is modules.load("own_words")
        assert import_module("json") is sys.modules["json"]
    with pytest.raises(ModuleNotFoundError):
        import_module("own_words")


def test_a_name_that_python_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytest.py").touch()
    with pytest.raises(ImportError, match="this process has other modules of these names: pytest"):
        OwnModules([tmp_path / "pytest.py"]).load("pytest")
    (tmp_path / "own_broken.py").write_text("1 / 0")
    broken = OwnModules([tmp_path / "own_broken.py"])
    with pytest.raises(ZeroDivisionError):
        broken.load("own_broken")
    assert "own_broken" not in sys.modules
