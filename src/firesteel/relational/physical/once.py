"""Looking at each node of plans once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from firesteel.relational.physical.node import PhysicalNode

Result = TypeVar("Result")


class OncePerNode(Generic[Result]):
    """A function of nodes that is called once for each node, so that a part of several plans stays one object.

    Nodes are told apart by identity, and kept, so that none gets the identity of another.
    """

    def __init__(self, function: Callable[[PhysicalNode], Result]) -> None:
        self._function = function
        self._results: dict[int, tuple[PhysicalNode, Result]] = {}

    def __call__(self, node: PhysicalNode) -> Result:
        """Return the function's result for a node."""
        found = self._results.get(id(node))
        if found is None:
            found = self._results[id(node)] = (node, self._function(node))
        return found[1]
