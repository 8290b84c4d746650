"""State: what handles see, how it is kept on a worker's disk, and how it survives in checkpoint storage."""
