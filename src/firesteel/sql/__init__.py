"""SQL text to syntax: Flink's dialect, its statements, and errors that point at the place in the text.

The way of a text: characters (`source`) to tokens (`lexer`), tokens to statements (`script`, `grammar`), which are
data (`statements`, `nodes`), and back to text (`writing`, `dialect`). What names and types mean is not known here.
"""
