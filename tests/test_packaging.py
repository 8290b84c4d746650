"""The package as people get it: wheel and sdist are built, installed into an empty environment, and used there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("packaging")

DEPENDENCIES = """
import sys
from importlib.metadata import requires, version
from packaging.requirements import Requirement
for text in requires("firesteel"):
    wanted = Requirement(text)
    if wanted.marker is None:
        assert wanted.specifier.contains(version(wanted.name)), text
import firesteel
print(firesteel.__file__)
"""


def call(*command: object, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
    return done.stdout


def build(source: Path, target: Path, kinds: Sequence[str]) -> list[Path]:
    call(sys.executable, "-m", "hatchling", "build", *kinds, "-d", target, cwd=source)
    return sorted(target.iterdir())


@pytest.fixture(scope="module")
def built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and a wheel that was built of nothing but it."""
    directory = tmp_path_factory.mktemp("built")
    (sdist,) = build(project, directory / "sdist", ["-t", "sdist"])
    with tarfile.open(sdist) as archive:
        archive.extractall(directory / "unpacked", filter="data")
    (root,) = (directory / "unpacked").iterdir()
    (wheel,) = build(root, directory / "wheel", ["-t", "wheel"])
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that the wheel was installed into; it finds its dependencies in this one."""
    environment = tmp_path_factory.mktemp("environment")
    call(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment)
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    python = environment / "bin" / "python"
    call(sys.executable, "-m", "pip", "--python", python, "install", *options, built[1], cwd=environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return environment / "bin"


def test_the_wheel_holds_the_package_and_the_examples(built: tuple[Path, Path], project: Path) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = set(archive.namelist())
    package = {
        f"firesteel/{path.relative_to(project / 'src' / 'firesteel').as_posix()}"
        for path in (project / "src" / "firesteel").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    examples = {f"firesteel/examples/{path.name}" for path in (project / "examples").glob("*.py")}
    assert package | examples | {"firesteel/examples/data/earthquakes.csv", "firesteel/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "harness/", "bench/"))]


def test_it_is_installed_with_dependencies_that_are_declared(installed: Path, tmp_path: Path) -> None:
    file = call(installed / "python", "-c", DEPENDENCIES, cwd=tmp_path)
    assert Path(file.strip()).is_relative_to(installed.parent)


@pytest.mark.spark
def test_the_installed_package_runs_an_example(installed: Path, tmp_path: Path) -> None:
    info = call(installed / "firesteel", "info", cwd=tmp_path)
    assert f"({installed.parent}" in info
    call(installed / "firesteel", "examples", "word_count", ".", cwd=tmp_path)
    printed = call(installed / "firesteel", "run", "word_count.py", cwd=tmp_path)
    assert printed.splitlines()[0] == "(to,1)"
    assert len(printed.splitlines()) == 10
