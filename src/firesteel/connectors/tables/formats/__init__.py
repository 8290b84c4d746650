"""The formats of files by columns: texts to columns with Flink's meaning, and columns to the bytes of files.

Texts are read in two ways that give the same values. The quick way is vectorised and takes only what is plainly of the
expected form; it raises `Doubtful` for anything else. The exact way follows Flink text by text.
"""
