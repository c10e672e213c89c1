"""Pictures for notebooks: HTML in one piece, legible on light and dark pages, from text that is not trusted.

`markup` has the elements; `pictures` shows sentences and marginal probabilities, from plain data.
"""
