"""How many rows the relations of a query will have, and what they will cost.

`sizes` is what is known or guessed of a relation, `selectivity` how many of its rows meet a condition, `formulas` what
joins and groups make of relations. `plans` applies these to physical plans, `costs` adds what their operators do.
Estimates decide how a query runs and never what its answer is.
"""
