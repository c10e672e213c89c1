"""Sources of annotation: who says what, and how far each is to be believed.

`layers` reads sources from files, `functions` and `builtin_functions` are sources made of code; `answers` holds what
all of them say as arrays. `methods` are the ways to combine them, from `estimate` and `reliability`, with the `options`
of each; `agreement` says how far they agree.
"""
