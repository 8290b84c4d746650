"""One Spark application for many driver processes: the process that has it, and those that attach to it."""
