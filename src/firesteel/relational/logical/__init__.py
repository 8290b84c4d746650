"""Logical plans: what a query means, before it is decided how it runs."""
