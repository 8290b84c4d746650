"""From a graph to a plan: an ordered tuple of small pure rules, then the levels and the operators' recipes."""

from firesteel.compiler.compile import RULES, Compiled, compile_graph

__all__ = ["RULES", "Compiled", "compile_graph"]
