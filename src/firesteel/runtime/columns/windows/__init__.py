"""Windows over columns: aggregates by window, and rows with their windows."""
