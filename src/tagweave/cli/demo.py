"""`tagweave demo`, which shows the package on its sample corpora, and `tagweave warm`, which compiles its code."""


def demo() -> None:
    """Train on the sample corpora and show what the package does, in a minute or two.

    Tagging from full, partial and ambiguous annotation and from two guidelines, completion of a partial sentence,
    segmentation from a few known boundaries, and reuse of a saved model. The sample is small: the scores illustrate
    differences, and measure nothing.
    """
    from tagweave.cli.demonstration import demonstrate

    demonstrate()


def warm() -> None:
    """Compile the code that training, tagging, segmenting and parsing use by default, for images and CI.

    Compiled code is stored beside the package, where other users find it, or else in a folder of the user.
    """
    from tagweave.cli.demonstration import compile_kernels

    compile_kernels()
