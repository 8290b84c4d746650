"""Nexmark's queries over growing state: what an event costs once the state is ten times as large."""
