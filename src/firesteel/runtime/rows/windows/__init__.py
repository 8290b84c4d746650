"""The window operator: the contents of windows, when they fire, and how they merge."""
