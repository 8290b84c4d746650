"""Physical plans: how a query runs.

A logical plan becomes a physical one (`firesteel.relational.physical.planning`), whose nodes say which changes they
give (`firesteel.relational.physical.changelog`), and each of which becomes one operator of the graph
(`firesteel.relational.to_graph`).
"""
