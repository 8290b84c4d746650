"""The execution of statements: a module for each subject, a function for each kind of statement."""
