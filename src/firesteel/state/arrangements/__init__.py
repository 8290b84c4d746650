"""Arrangements: the state of relational operators, as sorted columns."""
