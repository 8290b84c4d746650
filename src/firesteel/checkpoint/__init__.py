"""What survives: runs, manifests and savepoints in the state directory, and how tasks and drivers reach them."""
