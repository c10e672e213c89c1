"""Labels: spaces with their views, sets, mappings and bundles, codings of words and spans, transition schemes.

The names of the tasks of chain models stand here, since `--help` asks for them and this file imports nothing.
"""

SPANS = "spans"
"""The task whose labels code spans of words."""
PARSE = "parse"
"""The task whose annotation is trees."""
OF_CHARACTERS = ("segment", "segtag")
"""The tasks whose tokens are characters."""
OF_WORDS = ("tag", SPANS)
"""The tasks whose tokens are words."""
LAYERS = "layers"
"""The kind of a model of spans that may overlap: a chain for each layer."""
CARRYING = ("segtag", SPANS)
"""The tasks whose labels carry the tag of a word or the type of a span beside a letter (`B-NN`)."""
