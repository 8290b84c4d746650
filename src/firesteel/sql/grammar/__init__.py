"""The grammar of Flink SQL: a class for each subject, each on top of the one before."""
