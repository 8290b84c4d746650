"""What a subtask costs an epoch: the same records at growing parallelism."""
