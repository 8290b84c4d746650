"""Files: a source that watches directories, an exactly-once sink, and the layouts of records in files."""
