"""A job that runs on and on, many short ones beside it, and a look at whether anything grows."""
