"""Records as bytes and as Arrow columns: CSV, JSON. Nothing here knows of files or a network."""
