"""What `import tagweave` offers, in terms of words, texts and corpora; commands call the same functions.

`corpora`, `exchange`, `harvest` and `sources` give corpora; `training` gives models, which are `taggers`
(`label_model`) and `parser` on the base `model`; `evaluation`, `description` and `card` say how good they are;
`many_files` takes folders through them.
"""
