"""Object stores as both checkpoints and connectors reach them: credentials, patience, and what errors say."""
