"""Each rule has a file of its name in `rules`: statements, and the physical plans that they get, an empty line between.

    REWRITE=1 pytest tests/relational/test_rules.py

writes the files anew; look at the difference before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.relational import rules
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.planning import Planner
from firesteel.relational.rules import RULES, Rule
from tests.relational.plans import connections
from tests.sql.binding.catalogs import small_catalog

FILES = sorted((Path(__file__).parent / "rules").glob("*.txt"))
CATALOG = small_catalog()
OPTIONS = PlanOptions(two_phase=False, split_distinct=True)


def blocks(file: Path) -> list[tuple[str, str]]:
    parts = file.read_text().strip().split("\n\n")
    return [(part.split("\n", 1)[0], part.partition("\n")[2]) for part in parts]


def shown(sql: str) -> str:
    plan = rules.optimized(CATALOG.query(sql), OPTIONS)
    return forest([Planner(OPTIONS, connections()).plan(plan)])


def shown_or_refused(sql: str) -> str:
    """Return the plan, or the error of a planner that the rule has left a node that it does not take."""
    try:
        return shown(sql)
    except (AssertionError, UnsupportedError) as error:
        return str(error)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_plans_are_those_that_are_kept(file: Path) -> None:
    found = [(sql, shown(sql)) for sql, _ in blocks(file)]
    if os.environ.get("REWRITE"):
        file.write_text("\n\n".join(f"{sql}\n{plan}" for sql, plan in found) + "\n")
    assert found == blocks(file)


@pytest.mark.parametrize(
    "rule", sorted(set(RULES), key=lambda rule: rule.__name__), ids=lambda rule: rule.__name__
)
def test_the_rule_makes_the_difference(rule: Rule, monkeypatch: Any) -> None:
    (file,) = [file for file in FILES if file.stem == rule.__name__]
    monkeypatch.setattr(rules, "RULES", tuple(other for other in RULES if other is not rule))
    assert any(shown_or_refused(sql) != plan for sql, plan in blocks(file))
