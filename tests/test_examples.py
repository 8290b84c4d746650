"""The programs in examples/ do what they say (the access log has tests of its own)."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

RunPython = Callable[..., CompletedProcess[str]]


@pytest.mark.spark
def test_word_count(run_python: RunPython, project: Path) -> None:
    done = run_python(project / "examples" / "word_count.py")
    assert done.returncode == 0, done.stderr
    expected: list[str] = []
    seen: Counter[str] = Counter()
    for word in ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]:
        seen[word] += 1
        expected.append(f"({word},{seen[word]})")
    assert done.stdout.splitlines() == expected


@pytest.mark.spark
def test_sqlite_tables(run_python: RunPython, project: Path, tmp_path: Path) -> None:
    done = run_python(project / "examples" / "sqlite_tables.py", "shop.db")
    assert done.returncode == 0, done.stderr
    totals: Counter[str] = Counter()
    running = []
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        for customer, amount in database.execute("SELECT customer, amount FROM orders ORDER BY rowid"):
            totals[customer] += amount
            running.append((customer, totals[customer]))
        assert sorted(database.execute("SELECT customer, total FROM totals")) == sorted(running)
        assert database.execute("SELECT count(*) FROM totals_staged").fetchone() == (0,)
    assert done.stdout.splitlines() == [f"{customer} {total}" for customer, total in sorted(totals.items())]


def test_every_example_is_named_in_the_docs_or_by_an_example(project: Path) -> None:
    examples = sorted((project / "examples").glob("*.py"))
    pages = [project / "README.md", *(project / "docs").glob("*.md"), project / "examples" / "access_log.py"]
    text = "".join(page.read_text() for page in pages)
    assert [example.stem for example in examples if example.stem not in text] == []
