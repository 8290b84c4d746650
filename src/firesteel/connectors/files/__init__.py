"""Files: a source that watches directories, an exactly-once sink, and how records are laid out in files."""
