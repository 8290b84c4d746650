"""The working copy of a subtask's state on this machine's disk."""
