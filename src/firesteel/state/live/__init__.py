"""One subtask's state within an epoch: the backend, the handles and what bounds their memory."""
