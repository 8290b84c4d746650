"""Each rule has a file of its name in `rules`: statements, and the physical plans that they get, an empty line between.

    REWRITE=1 pytest tests/relational/test_rules.py

writes the files anew; look at the difference before you keep it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.relational import rules
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.planning import Planner
from firesteel.relational.planning import with_sizes
from firesteel.relational.rules import RULES, Rule
from tests.relational.plans import sized
from tests.sql.binding.catalogs import small_catalog

FILES = sorted((Path(__file__).parent / "rules").glob("*.txt"))
CATALOG = small_catalog()
OPTIONS = PlanOptions(two_phase=False, split_distinct=True)
ROWS = {"t": 1_000_000, "s": 1_000, "part": 10, "odd names": 100_000}
"""Tables of which it is known how many rows they have."""


def blocks(file: Path) -> list[tuple[str, str]]:
    parts = file.read_text().strip().split("\n\n")
    return [(part.split("\n", 1)[0], part.partition("\n")[2]) for part in parts]


def options_of(rule: str) -> PlanOptions:
    """Return the options with which a rule does something."""
    if rule not in ("reorder_joins", "push_semi_joins"):
        return OPTIONS
    return with_sizes(replace(OPTIONS, batch=True, reorders_joins=True, most_reordered=4), sized(ROWS))


def shown(sql: str, options: PlanOptions) -> str:
    plan = rules.optimized(CATALOG.query(sql), options)
    return forest([Planner(options, sized(ROWS)).plan(plan)])


def shown_or_refused(sql: str, options: PlanOptions) -> str:
    """Return the plan, or the error of a planner that the rule has left a node that it does not take."""
    try:
        return shown(sql, options)
    except (AssertionError, UnsupportedError) as error:
        return str(error)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_plans_are_those_that_are_kept(file: Path) -> None:
    options = options_of(file.stem)
    found = [(sql, shown(sql, options)) for sql, _ in blocks(file)]
    if os.environ.get("REWRITE"):
        file.write_text("\n\n".join(f"{sql}\n{plan}" for sql, plan in found) + "\n")
    assert found == blocks(file)


@pytest.mark.parametrize(
    "rule", sorted(set(RULES), key=lambda rule: rule.__name__), ids=lambda rule: rule.__name__
)
def test_the_rule_makes_the_difference(rule: Rule, monkeypatch: Any) -> None:
    (file,) = [file for file in FILES if file.stem == rule.__name__]
    monkeypatch.setattr(rules, "RULES", tuple(other for other in RULES if other is not rule))
    assert any(shown_or_refused(sql, options_of(file.stem)) != plan for sql, plan in blocks(file))
