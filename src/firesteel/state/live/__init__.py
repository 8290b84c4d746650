"""One subtask's state within an epoch: the backend, the handles and the limits on their memory."""
