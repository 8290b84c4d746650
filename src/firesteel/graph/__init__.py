"""The dataflow graph as the program drew it: frozen nodes and edges, stable operator ids, and its descriptions."""

from firesteel.graph.graph import Graph, GraphBuilder, Input
from firesteel.graph.nodes import Edge, Location, Node

__all__ = ["Edge", "Graph", "GraphBuilder", "Input", "Location", "Node"]
