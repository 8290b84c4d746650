"""Nexmark's window queries on events that arrive by the clock: the time from an event to its committed result."""
