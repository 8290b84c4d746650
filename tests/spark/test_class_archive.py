"""The archive of Java classes: where it is kept, when it is used, and that Spark starts from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firesteel.common.errors import EngineError
from firesteel.spark.class_archive import archive_options, archive_path, make_archive

PROGRAM = """
from firesteel.spark.session import open_session
session = open_session(None, 1, {"spark.driver.extraJavaOptions": "OPTIONS"})
print(session.range(3).count())
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Java that says what is wrong and ends."""
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho no memory for this >&2\nexit 3\n", encoding="ascii")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    return java


def test_an_archive_is_used_once_it_is_there(cache: Path) -> None:
    path = archive_path()
    assert path is not None
    assert cache in path.parents
    assert archive_options() == ""
    path.parent.mkdir(parents=True)
    path.touch()
    assert f"-XX:SharedArchiveFile={path}" in archive_options()


def test_another_java_has_another_archive(cache: Path, java: Path) -> None:
    first = archive_path()
    os.utime(java, ns=(1, 1))
    assert first is not None
    assert archive_path() not in (None, first)


def test_without_java_there_is_none(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert archive_path() is None
    assert archive_options() == ""
    with pytest.raises(EngineError, match="requires Java"):
        make_archive()


def test_a_run_of_spark_that_fails_is_an_error_and_leaves_nothing(cache: Path, java: Path) -> None:
    with pytest.raises(EngineError, match="could not be made"):
        make_archive()
    assert list((cache / "firesteel").iterdir()) == []


@pytest.mark.spark
@pytest.mark.long
def test_spark_starts_from_an_archive() -> None:
    """`./run` has made it, otherwise it is made here, which takes half a minute of two cores."""
    path = make_archive()
    assert path.stat().st_size > 2**20
    written = path.stat().st_mtime_ns
    assert make_archive() == path
    assert path.stat().st_mtime_ns == written
    # With -Xshare:on a JVM that cannot use the archive ends with an error.
    program = PROGRAM.replace("OPTIONS", f"-Xshare:on {archive_options()}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr
