"""Pictures for notebooks: HTML and SVG in one piece, legible on light and dark pages, from text that is not trusted.

`markup` has the elements; `pictures` and `trees` draw sentences, marginal probabilities and trees from plain data.
"""
