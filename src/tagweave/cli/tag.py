"""`tagweave tag`: text to labelled text, by a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.parsing import check_no_trees, check_parser_options, is_parser, write_parsed

if TYPE_CHECKING:
    from tagweave.cli.conversion import Conversion
    from tagweave.cli.labelling import Labelling
    from tagweave.models.chain import ChainModel
    from tagweave.models.tagger import Tagger


def tag(
    model: options.Model,
    input: Annotated[str, typer.Argument(metavar="INPUT[#LAYER]", help="Text; - is standard input.")] = "-",  # noqa: A002
    output: options.Output = "-",
    to: options.Guidelines = None,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
    retag: Annotated[bool, typer.Option("--retag", help="Put aside the labels that the input already has.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Rows of token, label and its marginal probability instead of text.")
    ] = False,
    split_runs: options.SplitRuns = False,
    best: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="JSON lines of the K best sequences and their probabilities.")
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A tagger of words or a parser that goes on from there (repeatable)."),
    ] = None,
    non_projective: options.NonProjective = False,
    threads: options.Threads = 1,
) -> None:
    """Label text, a stream of any length in constant memory.

    A model of words reads words in any format; a token that has a label keeps it, one with several gets one of them. A
    model that segments reads raw text, one sentence a line, and writes words. Blanks in raw text are boundaries; Latin
    words, numbers, URLs and e-mail addresses stay whole. Labels of several --to belong together; columns and CoNLL-U
    have a place for them. A parser writes CoNLL-U, and so do several models in turn: `tag TAGGER TEXT --then PARSER`.

    --probabilities writes rows `token TAB label TAB probability` and an empty line after each sentence. Tokens of a
    segmenter are characters, or the pieces of words that its taggers cut. --best writes a JSON object a sequence:
    sentence, rank, probability, tokens, labels.
    """
    from tagweave.cli.filled import write
    from tagweave.cli.labelling import Labelling
    from tagweave.cli.pipeline import in_turn, parsed, tagged
    from tagweave.cli.raw_text import write_segmented

    if probabilities and best:
        raise OptionError("found --probabilities and --best, expected one of them")
    if (probabilities or best) and output_format:
        raise OptionError("found --output-format with --probabilities or --best, expected it without")
    if (probabilities or best) and len(to or ()) > 1:
        raise OptionError("found --probabilities or --best with several --to, expected one")
    if then and (probabilities or best or to):
        raise OptionError("found --then with --probabilities, --best or --to, expected it without")
    check_outputs([output], [model, input, *(then or ())])
    if is_parser(model):
        check_parser_options({"to": to, "probabilities": probabilities, "best": best, "split-runs": split_runs})
        trees = parsed(model, input, format, retag, threads, not non_projective)
        write_parsed(in_turn(trees, then or (), retag, threads, not non_projective), output, output_format)
        return
    if not then:
        check_no_trees(model, non_projective)
    labelling = Labelling(open_tagger(model, to or (), threads), input, format, retag, not split_runs)
    with _retag_suggested():
        if then:
            words = in_turn(tagged(labelling), then, retag, threads, not non_projective)
            write_parsed(words, output, output_format)
        elif probabilities:
            write_lines(output, probability_rows(labelling))
        elif best:
            write_lines(output, best_lines(labelling, best))
        elif not write_segmented(labelling, output, output_format):
            write(labelling, output, output_format, partial=False)


@contextmanager
def _retag_suggested() -> Iterator[None]:
    """Where the input has a label that the model does not know, perhaps of another guideline: say what can be done."""
    from tagweave.corpus.errors import CorpusError
    from tagweave.labels.space import UnknownLabelError

    try:
        yield
    except CorpusError as error:
        if isinstance(error.__cause__, UnknownLabelError):
            raise OptionError(f"{error}; --retag puts the labels of the input aside") from error
        raise


def open_tagger(model: str, to: Sequence[str], threads: int) -> Tagger:
    """The model as a tagger of the guidelines `to`; of its target, where none is named.

    Raises:
        OptionError: the model does not know a guideline.
        ModelFileError, FileNotFoundError: as `load_model`.
    """
    from tagweave.models.chain import ChainModel
    from tagweave.models.storage import load_model
    from tagweave.models.tagger import Tagger

    loaded = load_model(model, ChainModel)
    for guideline in to:
        check_guideline(loaded, guideline, model)
    return Tagger(loaded, threads, to[0] if to else None, to[1:])


def check_guideline(model: ChainModel, guideline: str, name: str) -> None:
    """Nothing, if the model knows the guideline.

    Raises:
        OptionError: it does not; `name` is that of the model.
    """
    known = model.structure.space.guidelines
    if guideline not in known:
        expected = f"{known[0]}, the guideline" if len(known) == 1 else f"one of {', '.join(known)}, the guidelines"
        raise OptionError(f"found --to {guideline}, expected {expected} of {name}")


def probability_rows(labelling: Labelling) -> Iterator[str]:
    """A row a token with the label of the best sequence and its marginal probability, and "" after each sentence."""
    tagger = labelling.tagger
    column = {name: at for at, name in enumerate(tagger.labels)}
    for block in labelling.blocks():
        labelled = tagger.complete(block.evidence)
        tables = tagger.probabilities(block.evidence.sentences, tagger.guideline, block.evidence.covered)
        for sentence, table in zip(labelled, tables, strict=True):
            for form, candidates, row in zip(sentence.forms, sentence.layers[tagger.guideline], table, strict=True):
                label = (candidates or ("",))[0]
                yield f"{form}\t{label}\t{row[column[label]]:.6f}"
            yield ""


def best_lines(labelling: Labelling | Conversion, k: int) -> Iterator[str]:
    """The k best sequences of every sentence that its evidence allows, with their probabilities under it."""
    tagger, number = labelling.tagger, 0
    for block in labelling.blocks():
        for sentence in tagger.tokens(block.evidence.sentences, tagger.guideline):
            number += 1
            for rank, ranked in enumerate(tagger.k_best(sentence, k, tagger.guideline, block.evidence.covered), 1):
                found = {"sentence": number, "rank": rank, "probability": ranked.probability}
                yield json.dumps({**found, **_tokens(labelling, sentence.forms, ranked.labels)}, ensure_ascii=False)


def _tokens(labelling: Labelling | Conversion, forms: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, list[str]]:
    """The words of a sequence and, if it has any, their labels."""
    from tagweave.labels.coding import to_words

    words, tags = to_words(forms, labels) if labelling.of_characters else (forms, labels)
    return {"tokens": list(words), "labels": list(tags)} if any(tags) else {"tokens": list(words)}


def write_lines(output: str, lines: Iterator[str]) -> None:
    """Write lines, as a whole file or not at all; `-` is standard output."""
    from tagweave.cli.input import flushing
    from tagweave.corpus.text_file import written

    with written(output) as stream:
        stream.writelines(flushing((line + "\n" for line in lines), stream))
