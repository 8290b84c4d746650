"""Compiled plans: physical plans as JSON, with the ids of their operators."""

from firesteel.relational.stored.plans import StoredPlan, stored_plan

__all__ = ["StoredPlan", "stored_plan"]
