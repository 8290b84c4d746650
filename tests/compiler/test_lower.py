"""From nodes to operators: recipes, traits and what is shipped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import cloudpickle
import pytest

from firesteel.common.errors import SerializationError
from firesteel.common.typeinfo import Types
from firesteel.compiler import PlanSettings, compile_graph
from firesteel.compiler.lower import columns  # noqa: F401 - for the recipes that it registers
from firesteel.compiler.lower.recipe import recipe
from firesteel.functions.assigners import TumblingEventTimeWindows
from firesteel.functions.elements import AggregateFunction
from firesteel.functions.triggers import EventTimeTrigger
from firesteel.functions.window_functions import ProcessAllWindowFunction
from firesteel.graph import Edge, Graph, Location, Node, operations
from firesteel.graph.nodes import KeyBy
from firesteel.graph.operations import MapOp, Operation, SourceOp, WindowOp
from firesteel.graph.operations.column_windows import WindowedOp
from firesteel.graph.operations.columns import AggregateOp, ColumnOperation
from firesteel.runtime.operator import Operator
from firesteel.runtime.plan import OperatorSpec
from firesteel.runtime.rows.batch_mode import BatchOperator
from tests.compiler.examples import EXAMPLES, graph_of
from tests.compiler.graph_text import parse

HERE = Location("job.py", 7)


def kinds(operation: type[Operation] = Operation) -> Iterator[type[Operation]]:
    for kind in operation.__subclasses__():
        if kind not in (ColumnOperation, AggregateOp, WindowedOp):  # what others have in common
            yield kind
        yield from kinds(kind)


def test_every_operation_has_a_recipe_an_example_and_is_exported() -> None:
    unknown = recipe.dispatch(Operation)
    found = list(kinds())
    assert [kind.__name__ for kind in found if recipe.dispatch(kind) is unknown] == []
    assert {kind.__name__ for kind in found} <= set(operations.__all__)
    assert {type(operation) for operation, _ in EXAMPLES} == set(found)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(("operation", "ports"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_recipes_make_operators(operation: Operation, ports: Any, mode: Any) -> None:
    spec = compile_graph(graph_of(operation, ports), PlanSettings(runtime_mode=mode)).plan.operators[1]
    operator = cloudpickle.loads(spec.factory)()
    assert isinstance(operator, Operator)
    by_key = bool(ports) and all(isinstance(edge.partitioning, KeyBy) for edge in ports[0])
    keyed = by_key or type(operation).keyed
    assert (spec.keyed, spec.stateful) == (keyed, keyed or type(operation).stateful)
    assert isinstance(operator, BatchOperator) == (
        mode == "BATCH" and keyed and type(operation).sorts_in_batch
    )


def lowered(operation: Operation, edge: Edge, mode: str = "STREAMING") -> OperatorSpec:
    source = parse("a: source").nodes[0]
    graph = Graph((source, Node(1, "b", operation, ((edge,),), HERE)))
    return compile_graph(graph, PlanSettings(runtime_mode=mode)).plan.operators[1]  # type: ignore[arg-type]


def test_functions_are_objects_before_the_runtime_sees_them() -> None:
    class Sum(AggregateFunction):
        def create_accumulator(self) -> int:
            return 0

        def add(self, value: int, accumulator: int) -> int:
            return value + accumulator

        def get_result(self, accumulator: int) -> int:
            return accumulator

        def merge(self, a: int, b: int) -> int:
            return a + b

    class Show(ProcessAllWindowFunction):
        def process(self, context, elements):  # type: ignore[no-untyped-def]
            return elements

    window = TumblingEventTimeWindows(5, 0), EventTimeTrigger()
    for operation in (
        WindowOp(*window, "reduce", lambda a, b: a + b),
        WindowOp(*window, "aggregate", Sum(), Show(), by_key=False),
        WindowOp(*window, "apply", None, lambda key, window, values: values),
    ):
        made = recipe(operation, Node(0, "w", operation, (), HERE), False)
        function, evaluating = made.keywords["function"], made.keywords["window_function"]
        assert function is None or hasattr(function, "open")
        assert evaluating is None or hasattr(evaluating, "open")
        assert function or evaluating


def test_types_that_say_nothing_are_not_shipped() -> None:
    graph = parse("a: source\nb: map <- a")
    for type_info, shipped in ((Types.PICKLED_BYTE_ARRAY(), False), (Types.STRING(), True), (None, False)):
        node = Node(1, "b", MapOp(str), ((Edge(0),),), HERE, output_type=type_info)
        plan = compile_graph(Graph((graph.nodes[0], node)), PlanSettings()).plan
        assert (plan.operators[1].output_type is not None) == shipped


def test_what_cannot_be_shipped_is_named_with_its_operator() -> None:
    lock = threading.Lock()
    with pytest.raises(
        SerializationError, match=r"map 'b' \(job.py:7\) requires functions that can be shipped"
    ):
        lowered(MapOp(lambda value: lock), Edge(0))
    with pytest.raises(SerializationError, match=r"key_by into map 'b'"):
        lowered(MapOp(str), Edge(0, KeyBy(lambda value: lock)))


def test_sources_and_sinks_are_found_by_their_operator() -> None:
    graph = parse("a: source\nb: source\nc: map <- b\nd: sink <- c\ne: sink <- a")
    nodes = (graph.nodes[1], *graph.nodes[2:4], graph.nodes[0], graph.nodes[4])
    compiled = compile_graph(Graph(nodes), PlanSettings())
    operation = graph.nodes[0].operation
    assert isinstance(operation, SourceOp)
    assert compiled.sources[3] is operation.source
    assert sorted(compiled.sinks) == [2, 4]
    assert [spec.name for spec in compiled.plan.operators] == ["b", "c", "d", "a", "e"]
