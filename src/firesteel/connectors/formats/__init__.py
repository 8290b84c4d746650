"""How records are laid out in files: lines of text, CSV, JSON lines, Parquet; and how files are compressed."""
