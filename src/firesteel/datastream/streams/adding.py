"""Adding an operation to the graph: every call of the fluent API ends here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.datastream.streams.node_settings import call_site
from firesteel.graph import Edge, GraphBuilder, Location, Node
from firesteel.graph.operations import Operation

OutputType = TypeInformation | list[TypeInformation] | None
"""The possible values of `output_type`: a list is short for `Types.ROW`, None means values of any type."""


def add_node(
    builder: GraphBuilder,
    operation: Operation,
    name: str,
    inputs: Sequence[tuple[Edge, ...]],
    output_type: TypeInformation | None = None,
    **settings: Any,
) -> int:
    """Add an operation at the user's line and return its node id; `settings` are additional fields of the node."""
    node = Node(0, name, operation, tuple(inputs), Location.of_caller(), output_type=output_type, **settings)
    return builder.add(node)


def declared_type(call: str, output_type: OutputType) -> TypeInformation | None:
    """Return the type that an `output_type` argument means. Raises ProgramError for anything that is not a type."""
    if output_type is None or isinstance(output_type, TypeInformation):
        return output_type
    if isinstance(output_type, list) and all(isinstance(part, TypeInformation) for part in output_type):
        return Types.ROW(output_type)
    raise ProgramError(
        "requires an output_type that is a TypeInformation, a list of them or None",
        who=call_site(call),
        got=f"{type(output_type).__name__}: {output_type!r:.80}",
        hint="write it as Types.STRING(), Types.TUPLE([...]), ...",
    )


def same(value: Any) -> Any:
    """Return `value`: the function of a map that only marks a place in the graph."""
    return value
