"""Relational algebra: typed expressions, logical plans, the rules that rewrite them, and physical plans.

The way of a query: the binder (`firesteel.sql`) makes a logical plan of typed expressions; rules rewrite it; the
physical plan knows changelog modes, keys and exchanges, and becomes nodes of the graph. Nothing here knows SQL text or
the catalog.
"""
