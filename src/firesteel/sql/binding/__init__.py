"""From the syntax of a statement to what it means: names looked up, types known, aggregates and windows as nodes.

`statements` has the doors: `bind_query`, `bind_insert`, `bind_table`. All raise errors that point at the place in the
text.
"""
