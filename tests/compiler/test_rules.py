"""Each rule by its fixture: graphs as text before and after it, in the file of its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ProgramError
from firesteel.compiler import RULES, PlanSettings
from firesteel.compiler.rules import Rule
from tests.compiler.graph_text import parse, show

FIXTURES = Path(__file__).with_name("rules")
CASTS: dict[str, Any] = {"parallelism": int, "max_parallelism": int, "chaining": lambda text: text == "True"}


def cases() -> Iterator[Any]:
    for rule in RULES:
        for case in FIXTURES.joinpath(f"{rule.__name__}.txt").read_text().split("\n\n"):
            title, *lines = case.strip().splitlines()
            yield pytest.param(rule, lines, id=f"{rule.__name__}: {title.removeprefix('# ')}")


@pytest.mark.parametrize(("rule", "lines"), list(cases()))
def test_a_rule_does_what_its_fixture_says(rule: Rule, lines: list[str]) -> None:
    middle = lines.index("---")
    given, expected = lines[:middle], "\n".join(lines[middle + 1 :])
    settings = PlanSettings()
    if given and given[0].startswith("settings "):
        words = (word.partition("=") for word in given.pop(0).split()[1:])
        settings = replace(settings, **{name: CASTS.get(name, str)(value) for name, _, value in words})
    graph = parse("\n".join(given))
    if expected.startswith("error: "):
        with pytest.raises(ProgramError) as raised:
            rule(graph, settings)
        assert str(raised.value).splitlines()[0] == expected.removeprefix("error: ")
    else:
        assert show(rule(graph, settings)) == expected
        assert show(graph) == "\n".join(given)


def test_each_rule_has_a_file_and_a_fixture_of_its_name() -> None:
    names = [rule.__name__ for rule in RULES]
    assert [rule.__module__.rpartition(".")[2] for rule in RULES] == names
    assert sorted(path.stem for path in FIXTURES.iterdir()) == sorted(names)


def test_rules_say_the_same_when_they_run_again() -> None:
    graph = parse("one: source own=1\ntwo: map <- one\nthree: map <- two HASH\nout: sink <- three")
    settings = PlanSettings(parallelism=3)
    for rule in RULES:
        graph = rule(graph, settings)
    again = graph
    for rule in RULES:
        again = rule(again, settings)
    assert show(again) == show(graph)
