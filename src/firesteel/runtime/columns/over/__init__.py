"""OVER aggregates over columns: for each row, what a frame of the rows before it gives."""
