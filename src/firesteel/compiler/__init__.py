"""From a graph to a plan: an ordered tuple of small pure rules, then the levels and the operators' recipes."""

from firesteel.compiler.compile import Compiled, compile_graph
from firesteel.compiler.rules import RULES
from firesteel.compiler.settings import PlanSettings

__all__ = ["RULES", "Compiled", "PlanSettings", "compile_graph"]
