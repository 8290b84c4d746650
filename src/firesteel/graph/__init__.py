"""The dataflow graph of a program: frozen nodes and edges, stable operator ids."""

from firesteel.graph.graph import Graph, GraphBuilder
from firesteel.graph.nodes import Edge, Location, Node

__all__ = ["Edge", "Graph", "GraphBuilder", "Location", "Node"]
