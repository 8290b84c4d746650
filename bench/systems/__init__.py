"""One module per system: `python -m bench.systems.NAME` runs one job in its own process and prints one JSON line."""
