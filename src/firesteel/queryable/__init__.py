"""Queryable state: the state of a job is read while it runs, as its last committed epoch left it."""

from firesteel.queryable.client import Answer, Answers, QueryableStateClient
from firesteel.queryable.contents import Windowed

__all__ = ["Answer", "Answers", "QueryableStateClient", "Windowed"]
