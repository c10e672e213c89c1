"""Sources of annotation: who says what, and how far each is to be believed.

`layers` reads sources from files; `functions`, and the files named after it, are sources that are computed, some by the
server that `chat_client` asks; `answers` holds what all of them say as arrays. `methods` are the ways to combine them,
from `estimate` and `reliability`, with the `options` of each; `agreement` says how far they agree.
"""
