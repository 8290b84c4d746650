"""What `firesteel info` finds out."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.cli.info import Java, describe_installation, find_java, judge_java


def stub_java(home: Path, script: str) -> None:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)


def test_a_recent_java_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_java(tmp_path, "echo 'openjdk version \"21.0.4\" 2024-07-16' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == Java(str(tmp_path / "bin" / "java"), "21.0.4", None)


def test_an_old_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_java(tmp_path, "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java().problem == "it is too old: Spark needs Java 17 or newer"


def test_a_home_without_java_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert (find_java().problem or "").startswith("it does not start")


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (find_java().problem or "").startswith("no Java found; install a JRE")


def test_a_java_that_prints_nonsense() -> None:
    assert judge_java("java", "No Java runtime present").problem == (
        "it does not tell its version: 'No Java runtime present'"
    )


def test_the_list_names_every_part() -> None:
    pairs = dict(describe_installation(Java("/opt/java", "17.0.1", None)))
    assert pairs["java"] == "17.0.1 (/opt/java)"
    assert pairs["pyspark"].startswith("4.")
    assert {"firesteel", "python", "system"} <= pairs.keys()
    assert dict(describe_installation(Java("", "", "no Java found")))["java"] == "none"
