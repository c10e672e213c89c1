"""Sentences, corpora, and how they are read and written.

`sentence` and `corpus` are the data: layers of labels; each position allows some of them. `candidates`, `spans` and
`chunk_schemes` are what stands in a layer; `load` opens and saves corpora by a file for each format in `formats`, with
`files` below it. `sample` is a small corpus, `describe` counts what a corpus holds.
"""
