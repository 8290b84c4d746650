"""Topics as a source: splits are partitions, positions are offsets.

- `planning` (driver): which partitions there are, where they start and end, how far they can be read now.
- `reading` (worker): the messages of a range.
- `deserializing` (worker): messages to records.
"""
