"""Patterns of events: conditions, definitions, what happens after a match, and functions of matches."""
