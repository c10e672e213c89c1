"""Training: plans, the methods that carry them out, and what travels along.

A `plan` is plain data; `resolve` checks it and reads its `corpora`, `inspection` looks at these, and the result is a
`job`. `methods` has a file for each way to train; `fit` makes the problem of a structure (`chain_problem`,
`tree_problem`) by a `recipe` and trains its model. Methods of several models: `coupled`, `guided`, `transform`,
`subword`, `source_rounds`.
"""
