"""Drawings of patterns: the automaton that a pattern is compiled to, as text, for Mermaid, and as SVG."""
