"""SQL text to syntax and to meaning: Flink's dialect, its statements, and errors that point at the place in the text.

The way of a text: characters (`source`) to tokens (`lexer`), tokens to statements (`script`, `grammar`), which are
data (`statements`, `nodes`), and back to text (`writing`, `dialect`). What names and types mean is found out in
`binding`.
"""
