"""MATCH_RECOGNIZE: the engine of patterns over rows in columns."""
