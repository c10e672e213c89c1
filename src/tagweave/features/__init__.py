"""From sentences to integer arrays: columns of codes, templates over them, the feature index, and encoded corpora.

`columns` and `lookups` give tokens codes, `templates` and `arc_templates` name what to combine, `encoder` makes feature
ids of it, and `rules` checks what files claim.
"""
