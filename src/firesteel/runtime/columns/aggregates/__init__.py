"""Aggregates by key over columns: accumulators, their partial results, and the operators that keep them.

From rows to results: `form` turns rows into columns that can be added up (`parts`), `gathering` adds them up by key,
`groups` keeps the sums in an arrangement and says what changed, and `functions` computes the results of the sums. What
functions need besides sums is in `stores`.
"""
