"""Metrics sent elsewhere: the interface of reporters, those that are there, and forms of other systems."""
