"""`tagweave tag`, `complete` and `convert`: text and corpora through a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.options import argument, flag
from tagweave.front.options import TO_CONVERT, TO_LABEL
from tagweave.streams import say

_COMPLETE_FIELDS = ("to", "format", "output_format", "split_runs", "non_projective")
_TO_COMPLETE = [declared for declared in TO_LABEL if declared.name in _COMPLETE_FIELDS]


def _single(inputs: Sequence[str] | None) -> str:
    """Return the input of a command that reads one file, by default standard input."""
    if inputs and len(inputs) > 1:
        expected = "one, or --processes N, which writes a file for each into a folder"
        raise OptionError(f"found {len(inputs)} inputs, expected {expected}")
    return inputs[0] if inputs else "-"


def through_many_files(name: str, *arguments: Any, output: str, values: Mapping[str, Any], **settings: Any) -> bool:
    """Call a function of `tagweave.front.many_files` for --processes or --ray, and tell what it wrote.

    Return whether one of these is among the `values` of a command's options.
    """
    place = options.chosen(values, options.MANY_FILES)
    if not place:
        return False
    from tagweave.cli.terminal import progress_bar
    from tagweave.front import many_files

    if len(place) > 1:
        raise OptionError("found --processes and --ray, expected one of them")
    if output == "-":
        raise OptionError(f"found --{next(iter(place))} without --output, expected the folder for the files (-o OUT/)")
    with progress_bar("files") as progress:
        counts = getattr(many_files, name)(*arguments, output, progress=progress, tell=say, **place, **settings)
    before = f", {counts.before:,} were there before" if counts.before else ""
    say(f"{output}: {counts.written:,} {'file' if counts.written == 1 else 'files'} written{before}")
    return True


@options.taking(TO_LABEL)
@options.taking(options.MANY_FILES)
def tag(
    model: options.Model,
    inputs: Annotated[
        list[str] | None, argument("INPUT[#LAYER]", "Text; - is standard input. Several with --processes.")
    ] = None,
    output: options.Output = "-",
    threads: options.Threads = 1,
    int8: options.Int8 = False,
    **option_values: Any,
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
    settings = options.chosen(option_values, TO_LABEL)
    how = {"threads": threads, "int8": int8, **settings}
    if through_many_files("label_files", model, inputs or (), output=output, values=option_values, **how):
        return
    from tagweave.front.loading import load_models

    text = _single(inputs)
    paths = [model, *settings.pop("then", [])]
    check_outputs([output], [text, *paths])
    first, *then = load_models(paths, threads, int8=int8)
    first.label_file(text, output, then=then, **settings)


@options.taking(_TO_COMPLETE)
@options.taking(options.MANY_FILES)
def complete(
    model: options.Model,
    inputs: Annotated[list[str], argument("INPUT[#LAYER]", "A corpus; - is standard input. Several with --processes.")],
    output: options.Output = "-",
    threads: options.Threads = 1,
    **option_values: Any,
) -> None:
    """Fill in unknown and ambiguous labels of a corpus; known ones never change.

    The new labels are the most probable sequence that the annotation allows. The format stays the same, but
    text without labels becomes tagged or segmented text.
    """
    settings = options.chosen(option_values, _TO_COMPLETE)
    how = {"threads": threads, **settings}
    if through_many_files("complete_files", model, inputs, output=output, values=option_values, **how):
        return
    from tagweave.front.loading import load_model

    corpus = _single(inputs)
    check_outputs([output], [model, corpus])
    load_model(model, threads).complete_file(corpus, output, **settings)


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
    threads: options.Threads = 1,
    **option_values: Any,
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
    settings = options.chosen(option_values, TO_CONVERT)
    how = {"threads": threads, "to": to, **settings}
    if through_many_files("convert_files", model, inputs, output=output, values=option_values, **how):
        return
    from tagweave.cli.terminal import counted
    from tagweave.front.loading import load_model

    corpus = _single(inputs)
    check_outputs([output], [model, corpus])
    progress = partial(counted, what="sentences")
    least_certain = load_model(model, threads).convert_file(corpus, output, to, progress=progress, **settings)
    for line in least_certain.lines() if "review" in settings else ():
        say(line)
