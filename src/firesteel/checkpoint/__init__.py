"""Durable state: runs, manifests and savepoints in the state directory, and how tasks and drivers access them."""
