"""The window operator: what windows hold, when they fire, and how they merge."""
