"""Pattern matching: the automaton, which is pure, and the keyed operator around it.

A pattern becomes states and transitions (`compiling`, `states`); from those, decisions grow as events come
(`deciding`). `matcher` moves the partial matches of a key, which are in `matches`.
"""
