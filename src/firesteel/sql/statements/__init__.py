"""Statements as data: a frozen dataclass for each kind, with typed fields and places in the text.

Contract: statements are equal if they say the same, wherever they stand: a `Span` is never compared. Queries and
expressions in them are nodes of sqlglot (`firesteel.sql.nodes.span` tells where those stand).
"""
