"""The functions of the queries as a module has them, for `CREATE FUNCTION ... AS 'module.name'`."""

from __future__ import annotations

from tests.queries.tables import FUNCTIONS

globals().update(FUNCTIONS)
