"""Expressions of the Table API: what they are (`tree`), and the SQL that they mean (`syntax`, `columns`, `binding`).

An expression is data. When a table takes it, it becomes the syntax that SQL's parser would make of the same words, and
SQL's binder does the rest: names, types, errors and plans are those of SQL.
"""
