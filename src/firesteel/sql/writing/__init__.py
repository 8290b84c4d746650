"""Statements back to text.

Contract: what is written parses to an equal statement. Names are always quoted; one line, keywords in upper case.
"""

from firesteel.sql.writing.statements import written

__all__ = ["written"]
