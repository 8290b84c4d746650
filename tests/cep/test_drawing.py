"""Patterns as drawings: their automaton in words, for Mermaid, and as a picture."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from firesteel.cep import CEP, AfterMatchSkipStrategy, IterativeCondition, Pattern, WithinType
from firesteel.common import Duration
from firesteel.common.errors import ProgramError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.patterns.conditions import as_condition
from firesteel.functions.patterns.describing import described
from scripts.drawings import PICTURES, price_drop

SVG = "{http://www.w3.org/2000/svg}"
DROP = """\
within 10 s; after a match: skip past last event

high (begins)
    takes -> low if price[1] > 100

low
    takes -> low (2) if price[1] < 50
    ignores if not price[1] < 50

low (2)
    takes -> match if price[1] < 50
    ignores if not price[1] < 50

match"""


def is_paid(event):
    return event == "paid"


def test_the_states_in_words():
    assert price_drop().explain() == DROP


def test_what_must_not_come_leads_to_no_match():
    pattern = Pattern.begin("payment").where(is_paid).not_followed_by("refund").where(str.isalpha)
    assert (
        pattern.within(Duration.of_minutes(5)).explain()
        == """\
within 5 min; after a match: no skip

payment (begins)
    takes -> refund if is_paid

refund (a match when its time is over)
    goes on -> no match: refund if str.isalpha
    ignores if not str.isalpha

no match: refund"""
    )


def test_a_loop_goes_on_to_what_follows():
    pattern = Pattern.begin("a", AfterMatchSkipStrategy.skip_to_last("b").throw_exception_on_miss())
    pattern = pattern.where(str.isalpha).followed_by_any("b").where(str.isdigit).one_or_more()
    pattern = pattern.until(str.isspace).followed_by("c")
    pattern = pattern.within(Duration.of_millis(90_500), WithinType.PREVIOUS_AND_CURRENT)
    assert (
        pattern.explain()
        == """\
after a match: skip to last b or fail

a (begins)
    takes -> b if str.isalpha

b
    takes -> b (3) if not str.isspace and str.isdigit
    ignores

b (2)
    takes -> b (3) if not str.isspace and str.isdigit
    ignores if not str.isspace and not str.isdigit

b (3)
    goes on -> c
    takes -> b (3) if not str.isspace and str.isdigit
    ignores -> b (2) if not str.isspace and not str.isdigit

c (within 1 min 30 s 500 ms of the event before)
    takes -> match

match"""
    )


def test_patterns_of_texts_show_the_words_of_the_text():
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([{"price": 1}])
    text = """
        select * from every a = Order(price > :high or price is null)
          -> b = Event(price < a.price * 0.5  and  shop = a.shop)
        where b.price > 1 within 10 seconds
    """
    shown = CEP.pattern_text(stream, text, parameters={"high": 5}, kind="type").explain()
    assert "takes -> b if is Order and (price > :high or price is null)" in shown
    assert "takes -> match if price < a.price * 0.5 and shop = a.shop and b.price > 1" in shown


def test_a_drawing_for_mermaid():
    assert price_drop().explain("mermaid").splitlines() == [
        "---",
        'title: "within 10 s; after a match: skip past last event"',
        "---",
        "stateDiagram-v2",
        "    direction LR",
        "    [*] --> s0",
        '    state "high (begins)" as s0',
        '    state "low" as s1',
        '    state "low (2)" as s2',
        '    state "match" as s3',
        "    s0 --> s1: takes if price#91;1#93; #62; 100",
        "    s1 --> s2: takes if price#91;1#93; #60; 50",
        "    s1 --> s1: ignores if not price#91;1#93; #60; 50",
        "    s2 --> s3: takes if price#91;1#93; #60; 50",
        "    s2 --> s2: ignores if not price#91;1#93; #60; 50",
        "    s3 --> [*]",
    ]


def test_a_picture_has_a_card_for_each_state_and_an_arrow_for_each_way():
    pattern = (
        Pattern.begin("a").where(lambda e: e < "b" and e > '"&').followed_by("b").one_or_more().next("c")
    )
    root = ET.fromstring(pattern.explain("svg"))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    lines = pattern.explain().splitlines()
    states = [line for line in lines[1:] if line and not line.startswith(" ")]
    assert [text for text in texts if text in states] == states
    assert 'takes if e < "b" and e > \'"&\'' in texts
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(arrows) == sum(line.startswith(" ") for line in lines)
    width, height = float(root.get("width")), float(root.get("height"))
    for path in arrows:
        places = [word for word in path.get("d").split() if word.isdecimal()]
        assert all(0 < float(place) < max(width, height) for place in places)


def test_arrows_do_not_lie_upon_each_other():
    pattern = (
        Pattern.begin("a")
        .one_or_more()
        .greedy()
        .followed_by("b")
        .times(2, 4)
        .followed_by_any("c")
        .optional()
        .next("d")
    )
    root = ET.fromstring(pattern.explain("svg"))
    upright: list[tuple[float, float, float]] = []
    for path in root.iter(f"{SVG}path"):
        if path.get("marker-end"):
            _, _, begin, _, x, _, end, _, _ = path.get("d").split()
            low, high = sorted((float(begin), float(end)))
            assert all(other != float(x) or high < first or last < low for other, first, last in upright)
            upright.append((float(x), low, high))
    assert len(upright) > 15


def test_other_forms_and_patterns_that_mean_nothing_are_refused():
    with pytest.raises(
        ProgramError, match=r"explain \(.*test_drawing.py:\d+\) requires one of the forms text, "
    ):
        Pattern.begin("a").explain("png")
    with pytest.raises(ProgramError, match=r"explain \(.*requires each step to have a name of its own"):
        Pattern.begin("a").next("a").explain()


class Rising(IterativeCondition):
    def filter(self, value, ctx):
        return True


def test_conditions_are_shown_by_name_or_source():
    nested = [
        lambda event: any((lambda inner: inner > event)(each) for each in "ab"),
        lambda event: event > 3,
    ]
    shown = {
        is_paid: "is_paid",
        str.isdigit: "str.isdigit",
        functools.partial(max, 3): "max",
        Rising(): "Rising()",
        Rising().filter: "Rising.filter",
        nested[0]: "any((lambda inner: inner > event)(each) for each in \"ab\")",
        nested[1]: "event > 3",
        (lambda event, ctx: (event
                             or ctx)): "event or ctx",
        (lambda event: event * 100 + "some more of it, and so on, and so on" + "until the end" == "x" * 100):
            'event * 100 + "some more of it, and so on, and so on" + "until the end" == "x...',
    }  # fmt: skip
    for condition, text in shown.items():
        assert described(as_condition(condition, "here")) == text
    unknown = eval(compile("lambda event: event > 3", "nowhere.py", "eval"))
    assert described(as_condition(unknown, "here")) == "the lambda at nowhere.py:1"


def test_combined_conditions():
    pattern = Pattern.begin("a").where(lambda e: e or 1).where(is_paid).or_(str.isdigit).subtype(int)
    assert described(pattern.get_condition()) == "((e or 1) and is_paid or str.isdigit) and is a int"


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_docs_are_those_of_the_code(name):
    page = Path(__file__).parents[2] / "docs" / "images" / name
    assert page.read_text("utf-8") == PICTURES[name]().explain("svg"), "run python scripts/drawings.py"
