"""What is shown of a job is what runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firesteel.compiler import Compiled, PlanSettings, compile_graph
from firesteel.compiler.describe import describe
from firesteel.compiler.plan_formats import as_execution_plan, as_json, as_text
from firesteel.graph.operations import Operation
from tests.compiler.examples import EXAMPLES, graph_of
from tests.compiler.graph_text import parse

ONE_SOURCE = "one: source own=1\nmap: map <- one\nout: sink <- map"
PROGRAMS = [
    ONE_SOURCE,
    "a: source\nb: map uid=first <- a\nc: map chaining=head <- b HASH\nd: sink <- c",
    "a: source\nb: source slots=io\nc: both <- a | b BROADCAST\nd: sink <- c !late\ne: sink <- c",
    "a: source\nb: map <- a\nc: map chaining=never <- b\nd: map parallelism=3 <- c\ne: sink <- d, b",
]


def compiled(text: str, parallelism: int = 4, chaining: bool = True) -> Compiled:
    return compile_graph(parse(text), PlanSettings("job", parallelism, chaining=chaining))


@pytest.mark.parametrize("chaining", [True, False])
@pytest.mark.parametrize("parallelism", [1, 2, 4])
@pytest.mark.parametrize("text", PROGRAMS)
def test_everything_shown_is_the_plans(text: str, parallelism: int, chaining: bool) -> None:
    job = compiled(text, parallelism, chaining)
    check(job)
    if not chaining:
        assert all(len(chain) == 1 for chain in job.plan.chains)


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize(("operation", "ports"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_every_operation_is_shown_as_it_runs(operation: Operation, ports: Any, parallelism: int) -> None:
    check(compile_graph(graph_of(operation, ports), PlanSettings("job", parallelism)))


def check(job: Compiled) -> None:
    """Compare all that is shown with the plan."""
    plan, described = job.plan, describe(job)
    flink = {node["id"]: node for node in json.loads(as_execution_plan(described))["nodes"]}
    full = json.loads(as_json(described))
    assert len(flink) == len(full["nodes"]) == len(described.operators) == len(plan.operators)
    for spec, operator, node in zip(plan.operators, described.operators, full["nodes"], strict=True):
        edges = plan.incoming(spec.index)
        spread = [(edge.source + 1, edge.distribution.value) for edge in edges]
        assert (operator.parallelism, operator.level, operator.id) == (spec.parallelism, spec.level, spec.id)
        assert [(edge.source, edge.distribution) for edge in operator.inputs] == spread
        assert [edge.exchange for edge in operator.inputs] == [not edge.local for edge in edges]
        for shown in (flink[operator.number], node):
            predecessors = shown.get("predecessors", [])
            assert shown["parallelism"] == spec.parallelism
            assert [(edge["id"], edge["ship_strategy"]) for edge in predecessors] == spread
        assert operator.number - 1 in plan.chains[operator.chain - 1]
        assert (node["level"], node["chain"]) == (spec.level, operator.chain)
    names = [[plan.operators[index].name for index in chain] for chain in plan.chains]
    shown_chains = [
        [member["name"] for member in chain] for level in full["levels"] for chain in level["chains"]
    ]
    assert sorted(shown_chains) == sorted(names)
    assert [level["tasks"] for level in full["levels"]] == list(plan.levels)
    leaving = sum(len(level["edges"]) for level in full["levels"])
    assert leaving == sum(not edge.chained for edge in plan.edges)


def test_a_source_that_insists_on_one_subtask_is_shown_with_one() -> None:
    job = describe(compiled(ONE_SOURCE))
    assert as_text(job).splitlines() == [
        "job: job",
        "",
        "1: Source: one [parallelism 1] job.py:1",
        "2: map [parallelism 4] job.py:2",
        "    <- 1 REBALANCE",
        "3: Sink: out [parallelism 4] job.py:3",
        "    <- 2 FORWARD",
        "",
        "level 0 (1 task)",
        "    chain 1: one",
        "    exchange: one => map in level 1, REBALANCE",
        "level 1 (4 tasks)",
        "    chain 1: map -> out",
    ]


def test_what_the_program_set_is_shown() -> None:
    text = as_text(describe(compiled(PROGRAMS[1]))) + as_text(describe(compiled(PROGRAMS[2])))
    assert "2: b [parallelism 4, uid 'first'] job.py:2" in text
    assert "3: c [parallelism 4, starts a chain] job.py:3" in text
    assert "2: Source: b [parallelism 4, slot sharing group 'io'] job.py:2" in text
    assert "    <- 2 BROADCAST (input 2)" in text
    assert "    <- 3 FORWARD side output 'late'" in text
    assert "    chain 1: c -> (d, e)" in text


def test_the_execution_plan_is_flinks() -> None:
    # The idiom of PyFlink programs: the plan is also a Python expression.
    plan = eval(as_execution_plan(describe(compiled("a: source\nb: sink <- a\nc: map <- a HASH", 2))))
    assert plan == {
        "nodes": [
            {
                "id": 1,
                "type": "Source: a",
                "pact": "Data Source",
                "contents": "Source: a",
                "parallelism": 2,
            },
            {
                "id": 3,
                "type": "c",
                "pact": "Operator",
                "contents": "c",
                "parallelism": 2,
                "predecessors": [{"id": 1, "ship_strategy": "HASH", "side": "second"}],
            },
            {
                "id": 2,
                "type": "Sink: b",
                "pact": "Data Sink",
                "contents": "Sink: b",
                "parallelism": 2,
                "predecessors": [{"id": 1, "ship_strategy": "FORWARD", "side": "second"}],
            },
        ]
    }
