"""The chaos suite: one job, many kills, and output that must equal that of an uninterrupted run, row for row."""
