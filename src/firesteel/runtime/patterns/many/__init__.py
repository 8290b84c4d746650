"""Many patterns on one stream, in one operator: they share the events that wait, and each event goes only to patterns
that it can begin, or that its key has partial matches of.

`registry` knows which patterns are looked for and when, `dispatch` which of them an event can begin, `live` has the
partial matches of each key and pattern. `operator` brings them together; in `dynamic` the patterns come as a stream.
"""
