"""The tables of docs/cep-language.md: what they print is in the language, and means what stands beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firesteel.cep import Pattern, WithinType
from firesteel.common import Duration
from tests.cep.texts import of_text

PAGE = (Path(__file__).parents[2] / "docs" / "cep-language.md").read_text("utf-8")
CODE = re.compile(r"(`+) ?(.+?) ?\1(?!`)")


def section(title):
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def table(title):
    """The cells of the rows of a section's table, without its head."""
    rows = [line for line in section(title).splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def codes(cell):
    return [found[1].replace("\\|", "|") for found in CODE.findall(cell)]


STEPS = [text for row in table("Steps") for text in codes(row[0])]
CLAUSES = [text for row in table("The whole pattern") for cell in row for text in codes(cell) if " " in text]
EXPRESSIONS = [text for row in table("Expressions") for text in codes(row[1])]


def whole(step):
    """The pattern around what the table has of it."""
    if step.startswith("every"):
        return step
    if step.startswith(("->", "next")):
        return f"every x = Event {step}" + (" -> z = Event" if " not " in step else "")
    if step.startswith("("):
        return f"every {step}"
    if "later" in step:
        return f"every x = Event -> y = Event {step}"
    repeats = "" if step[0] in "{+*?" else "{2}"
    return f"every x = Event{repeats}{step} -> y = Event"


@pytest.mark.parametrize("step", STEPS)
def test_each_step_of_the_page_is_a_step(step):
    of_text(f"select * from {whole(step)}", kind=None)


MEANINGS = {"y": lambda: Pattern.begin("x"), "group": lambda: Pattern.begin("x").followed_by("y")}


@pytest.mark.parametrize(("text", "call"), [row[:2] for row in table("Steps") if "`" in row[1]])
def test_each_step_means_the_call_beside_it(text, call):
    """Both have the same states and transitions."""
    for step, method in zip(codes(text), codes(call), strict=False):
        if "(...)" in method or "begin" in method or method.startswith(".") or "(" not in method:
            continue
        found = of_text(f"select * from {whole(step)}", {"n": 2} if ":n" in step else {}, kind=None).pattern
        names = {"Duration": Duration, "WithinType": WithinType}
        if step.startswith(("->", "next")):
            expected = eval(f"x.{method}", {"x": Pattern.begin("x"), **names})
            expected = expected.followed_by("z") if " not " in step else expected
        elif "later" in step:
            expected = eval(f"y.{method}", {"y": Pattern.begin("x").followed_by("y"), **names})
        else:
            expected = eval(f"x.{method}", {"x": Pattern.begin("x"), **names}).followed_by("y")
        assert found.explain() == expected.explain()


@pytest.mark.parametrize(
    "clause", [text for text in CLAUSES if re.match("within|where|partition|after", text)]
)
def test_each_clause_of_the_page_is_a_clause(clause):
    parameters = {"time": Duration.of_seconds(1), "n": 3}
    used = {name: value for name, value in parameters.items() if f":{name}" in clause}
    of_text(f"select * from every x = Event -> y = Event {clause}", used, kind=None)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_each_expression_of_the_page_is_one(expression):
    symbols = {"and", "or", "not"}
    if expression in symbols or re.fullmatch(r"[^\w\s'(:]+", expression):
        expression = f"not a {'and'} b" if expression == "not" else f"(a {expression} b)"
    elif expression == "not in":
        expression = "a not in (1)"
    elif re.match(r"(between|in|like|is)\b", expression):
        expression = f"a {expression}"
    elif "..." in expression:
        expression = expression.replace("...", "a")
    elif re.fullmatch(r"[a-z]+", expression) and expression not in ("true", "false", "null"):
        expression = f"{expression}(x.price)"
    parameters = {"parameter": 1} if ":parameter" in expression else {}
    of_text(
        f"select {expression} as found, a.b as c from every x = Event -> a = Event -> b = Event", parameters
    )


def test_the_page_has_what_these_tests_look_for():
    assert len(STEPS) > 20
    assert len(CLAUSES) > 5
    assert len(EXPRESSIONS) > 40
