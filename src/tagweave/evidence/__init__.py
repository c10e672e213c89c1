"""Evidence: what annotation says of the outputs of sentences. It knows no features and no scores.

`sequences` holds label sets of tokens with confidence, weights and candidates, `trees` heads and relations; `layers`
makes label sets of annotation layers. Structures consume evidence; files, harvests, sources, people and models make it.
"""
