"""The command line: `firesteel run`, `firesteel explain`, `firesteel info`."""
