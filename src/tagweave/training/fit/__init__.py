"""From corpora of one guideline and a recipe to one model.

A `task` says what tokens and labels are, a `recipe` how to fit. `fit` makes the problem of a structure
(`chain_problem`, `tree_problem`) and solves it (`problem`). `consistency` refuses evidence that no label sequence
satisfies, and `calibration` learns how far a model is to be believed.
"""
