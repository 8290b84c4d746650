"""The cost of a subtask per epoch: the same records at growing parallelism."""
