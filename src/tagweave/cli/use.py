"""`tagweave tag`, `complete` and `convert`: text and corpora through a model."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs, counted
from tagweave.cli.many_files import single, through_many_files
from tagweave.cli.options import argument, flag
from tagweave.front.options import TO_CONVERT, TO_LABEL
from tagweave.streams import say

_OF_COMPLETE = ("to", "format", "output_format", "split_runs", "non_projective")
_TO_COMPLETE = [each for each in TO_LABEL if each.name in _OF_COMPLETE]


@options.taking(TO_LABEL)
@options.taking(options.MANY_FILES)
def tag(
    model: options.Model,
    inputs: Annotated[
        list[str] | None, argument("INPUT[#LAYER]", "Text; - is standard input. Several with --processes.")
    ] = None,
    output: options.Output = "-",
    threads: options.Threads = 1,
    **others: Any,
) -> None:
    """Label text: a stream of any length in constant memory.

    A model of words reads words in any format; a token with a label keeps it, and one with several gets one of them. A
    segmenter reads raw text, one sentence per line, and writes words. Blanks in raw text are boundaries; Latin words,
    numbers, URLs and e-mail addresses stay whole. Labels of several --to are predicted together; columns and CoNLL-U
    can hold them. A parser writes CoNLL-U, and so does a chain of models: `tag TAGGER TEXT --then PARSER`.

    --probabilities writes rows `token TAB label TAB probability` and an empty line after each sentence. Tokens of a
    segmenter are characters, or the pieces of words that its taggers cut. --best writes a JSON object per sequence:
    sentence, rank, probability, tokens, labels.

    With --processes, many files are labelled: `tag MODEL in/*.txt.gz -o OUT/ --processes 8`. Every file becomes one of
    the same name in OUT; if the command is interrupted, the same command continues.
    """
    own = options.given(others, TO_LABEL)
    then = own.get("then", [])
    place = options.given(others, options.MANY_FILES)
    if through_many_files("label_files", model, inputs or (), output=output, threads=threads, place=place, **own):
        return
    text = single(inputs)
    from tagweave.front.model import load_model

    check_outputs([output], [model, text, *then])
    models = [load_model(each, threads) for each in then]
    load_model(model, threads).label_file(text, output, **{**own, "then": models})


@options.taking(_TO_COMPLETE)
@options.taking(options.MANY_FILES)
def complete(
    model: options.Model,
    inputs: Annotated[list[str], argument("INPUT[#LAYER]", "A corpus; - is standard input. Several with --processes.")],
    output: options.Output = "-",
    threads: options.Threads = 1,
    **others: Any,
) -> None:
    """Fill in unknown and ambiguous labels of a corpus; known ones never change.

    The new labels are the most probable sequence that the annotation allows. The format stays the same, but
    text without labels becomes tagged or segmented text.
    """
    own = options.given(others, _TO_COMPLETE)
    place = options.given(others, options.MANY_FILES)
    if through_many_files("complete_files", model, inputs, output=output, threads=threads, place=place, **own):
        return
    corpus = single(inputs)
    from tagweave.front.model import load_model

    check_outputs([output], [model, corpus])
    load_model(model, threads).complete_file(corpus, output, **own)


@options.taking(TO_CONVERT)
@options.taking(options.MANY_FILES)
def convert(
    model: options.Model,
    inputs: Annotated[
        list[str],
        argument("[G=]INPUT[#LAYER]", "A corpus with labels; - is standard input. Several with --processes."),
    ],
    output: options.Output = "-",
    to: Annotated[str | None, flag("G", "The guideline to convert to; default: the model's other one.")] = None,
    review_file: Annotated[str | None, flag("FILE", "Write the list of --review to this file instead.")] = None,
    threads: options.Threads = 1,
    **others: Any,
) -> None:
    """Convert the labels of a corpus to another guideline.

    With a model of both guidelines, the labels of the corpus constrain the new ones; a model with a guide of the
    corpus's guideline uses them in place of the guide's; a model of one guideline ignores them.

    Column files get another column, and CoNLL-U uses the empty one of XPOS and UPOS; in formats with one label per
    word the new labels replace the old. Text of another format becomes CoNLL-U with the new labels in UPOS and the old
    ones in XPOS. Labels that the corpus already has under the new guideline stay, unless
    --retag replaces them, for example to evaluate a conversion of text annotated under both.

    A parser with a guide converts the trees of CoNLL-U.
    """
    own = options.given(others, TO_CONVERT)
    if review_file and not own.get("review"):
        raise OptionError("found --review-file without --review, expected --review N as well")
    place = options.given(others, options.MANY_FILES)
    if through_many_files("convert_files", model, inputs, output=output, threads=threads, place=place, to=to, **own):
        return
    corpus = single(inputs)
    from tagweave.front.model import load_model
    from tagweave.streams.inputs import write_lines

    check_outputs([output, review_file], [model, corpus])
    progress = partial(counted, what="sentences")
    listed = load_model(model, threads).convert_file(corpus, output, to, progress=progress, **own)
    if review_file:
        write_lines(review_file, listed.lines())
    elif own.get("review"):
        for line in listed.lines():
            say(line)
