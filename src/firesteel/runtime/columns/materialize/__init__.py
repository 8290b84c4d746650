"""Sinks whose primary key is not the query's: the rows of each key, and the one of them that is written."""
