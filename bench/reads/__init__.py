"""Reads of a running job's state over HTTP."""
